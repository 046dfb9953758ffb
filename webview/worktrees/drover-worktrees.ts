// The worktrees of this machine: the space that each takes, its current use, which can be removed
// and why, and one button that removes them after a confirmation.

import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { WorktreeSizes } from '../../server/protocol/views.ts';
import { BoardController } from '../shared/board-controller.ts';
import { connectionTemplate } from '../shared/connection-template.ts';
import type { Host } from '../shared/host.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { documentStyles } from '../shared/looks/document-styles.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import '../shared/looks/button.ts';
import {
  freedWords,
  freeTitle,
  goesWords,
  rowsOf,
  totalWords,
  type WorktreeRow,
} from './worktree-rows.ts';

export class DroverWorktrees extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [
    iconStyles,
    controlStyles,
    documentStyles,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        margin-bottom: 8px;
      }
      .bar p {
        flex: 1 1 240px;
        margin: 0;
      }
      .goes {
        margin: 0 0 12px;
        padding: 8px 12px;
        border: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder, transparent));
        border-radius: 4px;
      }
      .goes ul {
        margin: 4px 0 8px;
        padding-inline-start: 20px;
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
      ul.slots {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      ul.slots li {
        display: grid;
        grid-template-columns: 16px minmax(0, 1fr) auto;
        gap: 2px 8px;
        align-items: start;
        padding: 6px 0;
        border-top: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder, transparent));
      }
      li b {
        font-weight: 600;
        overflow-wrap: anywhere;
      }
      li .why {
        grid-column: 2 / -1;
        color: var(--vscode-descriptionForeground);
        overflow-wrap: anywhere;
      }
      .size {
        font-variant-numeric: tabular-nums;
      }
      .empty {
        padding: 24px 0;
      }
      @media (max-width: 600px) {
        :host {
          padding: 12px;
        }
        vscode-button {
          min-height: 44px;
        }
      }
    `,
  ];
  declare host: Host | null;
  #board: BoardController | null = null;
  #sizes: WorktreeSizes | null = null;
  #isBusy = false;
  /** The worktrees in the confirmation. */
  #asking: readonly WorktreeRow[] | null = null;
  #told: { readonly words: string; readonly isFailure: boolean } | null = null;

  constructor() {
    super();
    this.host = null;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('host') && this.host !== null && this.#board === null) {
      this.#board = new BoardController(this, this.host);
      this.#board.onAction = (action) => {
        if (action === 'focus') this.#focusButton();
      };
    }
    const board = this.#board?.board ?? null;
    const isNew = this.#sizes === null && this.#told === null && !this.#isBusy;
    if (board !== null && isNew) void this.#load();
  }

  override render(): TemplateResult {
    const state = this.#board?.state ?? null;
    if (state === null) return html`${nothing}`;
    const instead = connectionTemplate(state, this.host);
    if (instead !== null) return instead;
    return html`<h1>Worktrees</h1>
      ${this.#message()} ${this.#sizes === null ? this.#waiting() : this.#content(this.#sizes)}`;
  }

  #message(): TemplateResult {
    const told = this.#told;
    return html`<div role=${told?.isFailure === true ? 'alert' : 'status'}>
      ${told === null ? nothing : html`<p>${visibleLine(told.words)}</p>`}
    </div>`;
  }

  #waiting(): TemplateResult {
    return this.#isBusy
      ? html`<div class="empty" role="status">${icon('loading', 'spins')} Measuring…</div>`
      : html`<vscode-button @click=${() => this.#load()}>Measure Again</vscode-button>`;
  }

  #content(sizes: WorktreeSizes): TemplateResult {
    const rows = rowsOf(sizes, (id) => this.#titleOf(id));
    const free = rows.filter(({ mayGo }) => mayGo);
    return html`<div class="bar">
        <p>${totalWords(sizes)}</p>
        <div class="actions">
          ${
            free.length === 0 || this.#asking !== null
              ? nothing
              : html`<vscode-button
                  class="free"
                  ?disabled=${this.#isBusy}
                  @click=${() => this.#ask(free)}
                >
                  ${freeTitle(free)}…
                </vscode-button>`
          }
          <vscode-button secondary ?disabled=${this.#isBusy} @click=${() => this.#load()}>
            Measure Again
          </vscode-button>
        </div>
      </div>
      ${this.#asking === null ? nothing : this.#question(this.#asking)}
      ${
        rows.length === 0
          ? html`<div class="empty">There is no worktree yet. The first run makes them.</div>`
          : html`<ul class="slots" aria-label="Worktrees">
              ${rows.map((row) => this.#row(row))}
            </ul>`
      }`;
  }

  #question(rows: readonly WorktreeRow[]): TemplateResult {
    return html`<section class="goes" aria-label="What goes" @keydown=${this.#onKey}>
      <p>${goesWords(rows)}</p>
      <ul>
        ${rows.map(({ name, size }) => html`<li><bdi>${visibleLine(name)}</bdi>, ${size}</li>`)}
      </ul>
      <div class="actions">
        <vscode-button
          class="sure"
          ?disabled=${this.#isBusy}
          @click=${() => this.#free(rows.map(({ path }) => path))}
        >
          ${freeTitle(rows)}
        </vscode-button>
        <vscode-button secondary ?disabled=${this.#isBusy} @click=${() => this.#ask(null)}>
          Cancel
        </vscode-button>
      </div>
    </section>`;
  }

  #row({ name, path, size, task, taskId, mayGo, why }: WorktreeRow): TemplateResult {
    return html`<li>
      ${icon(mayGo ? 'trash' : 'lock')}
      <b title=${visibleLine(path)}><bdi>${visibleLine(name)}</bdi></b>
      <span class="size">${size}</span>
      <span class="why">
        ${visibleLine(why)}
        ${
          task === null || taskId === null
            ? nothing
            : html`<button
                class="link"
                @click=${() => this.host?.action('openStream', { task: taskId })}
              >
                <bdi>${visibleLine(task)}</bdi>
              </button>`
        }
      </span>
    </li>`;
  }

  #titleOf(id: string): string | null {
    return this.#board?.board?.tasks.find((task) => task.id === id)?.title ?? null;
  }

  #ask(rows: readonly WorktreeRow[] | null): void {
    this.#asking = rows;
    this.requestUpdate();
    void this.updateComplete.then(() => this.#focusButton());
  }

  #focusButton(): void {
    const names = ['.sure', '.free', 'vscode-button'];
    const found = names.map((name) => this.renderRoot.querySelector<HTMLElement>(name));
    found.find((element) => element !== null)?.focus();
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    this.#ask(null);
  };

  async #load(): Promise<void> {
    await this.#busy(async (host) => {
      this.#sizes = await host.backend('worktree.sizes', {});
      this.#told = null;
    });
  }

  async #free(paths: readonly string[]): Promise<void> {
    await this.#busy(async (host) => {
      const done = await host.backend('worktree.prune', { paths });
      this.#asking = null;
      const words = freedWords(done, paths);
      this.#sizes = await host.backend('worktree.sizes', {});
      this.#told = { words, isFailure: false };
    });
    await this.updateComplete;
    this.#focusButton();
  }

  async #busy(work: (host: Host) => Promise<void>): Promise<void> {
    const { host } = this;
    if (host === null || this.#isBusy) return;
    this.#isBusy = true;
    this.requestUpdate();
    try {
      await work(host);
    } catch (error) {
      this.#told = { words: (error as Error).message, isFailure: true };
    } finally {
      this.#isBusy = false;
      this.requestUpdate();
    }
  }
}

customElements.define('drover-worktrees', DroverWorktrees);
