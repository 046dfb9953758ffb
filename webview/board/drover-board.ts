// The board: the same tasks as Kanban columns or as the dependency graph, for one epic or for all.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { BoardController } from '../shared/board-controller.ts';
import { askForRun, type Host } from '../shared/host.ts';
import { tellTime } from '../shared/measured.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { pageStyles } from '../shared/looks/page-styles.ts';
import { noticeStyles } from '../shared/plan/notice-styles.ts';
import {
  emptyTemplate,
  unavailablePage,
  type WelcomeActions,
} from '../shared/plan/welcome-template.ts';
import { freshMemory, readMemory, type BoardMemory, type BoardMode } from './board-memory.ts';
import { BoardPast, readOnlyHost } from './board-past.ts';
import { BoardPlan } from './board-plan.ts';
import { boardStyles } from './board-styles.ts';
import { shown } from './columns.ts';
import { pastTemplate } from './past-template.ts';
import './drover-graph.ts';
import './drover-kanban.ts';

const modes: Readonly<Record<BoardMode, string>> = { kanban: 'Board', graph: 'Graph' };

export class DroverBoard extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [controlStyles, iconStyles, noticeStyles, pageStyles, boardStyles];
  declare host: Host | null;
  #board: BoardController | null = null;
  #plan: BoardPlan | null = null;
  #past: BoardPast | null = null;
  /** The host that shows an earlier state. */
  #pastHost: Host | null = null;
  #pastPlan: BoardPlan | null = null;
  #memory: BoardMemory = freshMemory;
  #said = '';
  #failed = '';
  #hasPainted = false;

  constructor() {
    super();
    this.host = null;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('host') || this.host === null || this.#board !== null) return;
    this.#memory = readMemory(this.host.memory.get());
    const voice = {
      say: (words: string) => this.#tell(words, ''),
      fail: (words: string) => this.#tell('', words),
    };
    this.#plan = new BoardPlan(this.host, voice);
    this.#past = new BoardPast(this, this.host);
    this.#pastHost = readOnlyHost(this.host);
    this.#pastPlan = new BoardPlan(this.#pastHost, voice);
    this.#board = new BoardController(this, this.host);
    this.#board.onAction = (action) => {
      if (action === 'undo') this.#plan?.undo();
      else if (action === 'redo') this.#plan?.redo();
      else if (action === 'focus') this.#focusContent();
    };
  }

  override render(): TemplateResult | typeof nothing {
    const state = this.#board?.state ?? null;
    if (state === null) return nothing;
    const welcome = this.#welcome();
    const unavailable = unavailablePage(state, this.host);
    if (unavailable !== null) return unavailable;
    const { board } = state;
    if (board === null) return nothing;
    if (board.tasks.length === 0 && board.epics.length === 0) return emptyTemplate(welcome);
    return html`<div class="page" @keydown=${this.#onKey}>
      ${this.#bar(board)} ${this.#past === null ? nothing : pastTemplate(this.#past)}
      ${this.#past?.isOpen === true ? this.#pastContent(this.#past) : this.#content(board, null)}
      ${this.#note()}
      <div class="hidden" role="status" aria-live="polite">${this.#said}</div>
    </div>`;
  }

  /** The selected epic; an epic that no longer exists counts as none. */
  #epic(board: StatusSnapshot): string | null {
    const { epic } = this.#memory;
    const wanted = epic === undefined ? (this.#board?.state?.subject.id ?? null) : epic;
    return board.epics.some(({ id }) => id === wanted) ? wanted : null;
  }

  #bar(board: StatusSnapshot): TemplateResult {
    const { mode, hidesCompleted } = this.#memory;
    const epic = this.#epic(board);
    return html`<div class="bar" role="toolbar" aria-label="Board">
      ${Object.entries(modes).map(
        ([name, title]) =>
          html`<button
            type="button"
            class="plain"
            aria-pressed=${name === mode ? 'true' : 'false'}
            @click=${() => this.#remember({ mode: name as BoardMode })}
          >
            ${icon(name === 'graph' ? 'git-merge' : 'layout')}<span>${title}</span>
          </button>`,
      )}
      <select aria-label="Epic" @change=${this.#onEpic}>
        <option value="" ?selected=${epic === null}>All epics</option>
        ${board.epics.map(
          ({ id, title }) =>
            html`<option value=${id} ?selected=${id === epic}>${shown(title)}</option>`,
        )}
      </select>
      ${
        mode === 'graph'
          ? html`<label>
              <input type="checkbox" .checked=${hidesCompleted} @change=${this.#onHide} />
              Hide completed
            </label>`
          : nothing
      }
      <button
        type="button"
        class="plain"
        aria-pressed=${this.#past?.isOpen === true ? 'true' : 'false'}
        title="Earlier States"
        @click=${this.#onHistory}
      >
        ${icon('history')}<span>History</span>
      </button>
      <button
        type="button"
        class="plain end"
        aria-label=${epic === null ? 'Run all open tasks' : 'Run epic'}
        title=${epic === null ? 'Run All Open Tasks' : 'Run Epic'}
        @click=${() => this.#plan?.ask(async () => askForRun(this.host, epic))}
      >
        ${icon('play')}<span>Run</span>
      </button>
    </div>`;
  }

  #pastContent({ board, atMs }: BoardPast): TemplateResult | typeof nothing {
    if (board === null) return nothing;
    // A menu action applies to the current tasks.
    const stay = (event: Event): void => {
      event.preventDefault();
      event.stopPropagation();
    };
    return html`<div class="earlier" @contextmenu=${stay}>${this.#content(board, atMs)}</div>`;
  }

  /** `atMs` is the time of an earlier state, which is read-only. */
  #content(board: StatusSnapshot, atMs: number | null): TemplateResult {
    const epic = this.#epic(board);
    const host = atMs === null ? this.host : this.#pastHost;
    const plan = atMs === null ? this.#plan : this.#pastPlan;
    if (this.#memory.mode === 'graph') {
      return html`<drover-graph
        .host=${host}
        .plan=${plan}
        .board=${board}
        .epic=${epic}
        .hidesCompleted=${this.#memory.hidesCompleted}
        @epic=${(event: CustomEvent<string>) => this.#showEpic(event.detail)}
      ></drover-graph>`;
    }
    return html`<drover-kanban
      .host=${host}
      .plan=${plan}
      .board=${board}
      .epic=${epic}
      .atMs=${atMs}
    ></drover-kanban>`;
  }

  #note(): TemplateResult | typeof nothing {
    if (this.#failed === '') return nothing;
    return html`<div class="note error" role="alert">
      ${icon('error')}<bdi>${shown(this.#failed)}</bdi>
    </div>`;
  }

  #welcome(): WelcomeActions {
    const command = (id: string): void => {
      this.#plan?.ask(async () => this.host?.action('command', { id }));
    };
    return {
      onCommand: command,
      onNewEpic: () => command('drover.newEpic'),
      onNewTask: () => command('drover.newTask'),
    };
  }

  override updated(): void {
    if (this.#hasPainted || (this.#board?.board ?? null) === null) return;
    this.#hasPainted = true;
    requestAnimationFrame(() => tellTime(this.host, 'board.firstPaint'));
  }

  #tell(said: string, failed: string): void {
    this.#said = shown(said);
    this.#failed = failed;
    this.requestUpdate();
  }

  #remember(change: Partial<BoardMemory>): void {
    this.#memory = { ...this.#memory, ...change };
    this.#failed = '';
    this.host?.memory.set(this.#memory);
    this.requestUpdate();
  }

  #showEpic(epic: string | null): void {
    this.#remember({ epic });
    if (this.#past?.isOpen === true) void this.#past.open(epic);
  }

  #focusContent(): void {
    this.renderRoot.querySelector<HTMLElement>('drover-graph, drover-kanban')?.focus();
  }

  readonly #onEpic = (event: Event): void => {
    const { value } = event.target as HTMLSelectElement;
    this.#showEpic(value === '' ? null : value);
  };

  readonly #onHistory = (): void => {
    const board = this.#board?.board ?? null;
    if (this.#past === null || board === null) return;
    if (this.#past.isOpen) this.#past.close();
    else void this.#past.open(this.#epic(board));
    this.requestUpdate();
  };

  readonly #onHide = (event: Event): void => {
    this.#remember({ hidesCompleted: (event.target as HTMLInputElement).checked });
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === 'z' && !event.shiftKey) this.#plan?.undo();
    else if (key === 'y' || (key === 'z' && event.shiftKey)) this.#plan?.redo();
    else return;
    event.preventDefault();
  };
}

customElements.define('drover-board', DroverBoard);
