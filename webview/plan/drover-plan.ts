// The page of a plan that is not on the board yet: the user reviews, selects and edits the tasks to
// add.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { formatCost, formatCount } from '../../server/core/format.ts';
import type { IssuePlanView, ShownPlan } from '../../server/protocol/spec-plan.ts';
import { BoardController } from '../shared/board-controller.ts';
import type { PlanCheck } from '../messages/messages.ts';
import type { Host } from '../shared/host.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { quietStyles } from '../shared/looks/quiet-styles.ts';
import { visibleLine, visibleText } from '../shared/looks/visible-text.ts';
import { noticeStyles } from '../shared/plan/notice-styles.ts';
import { unavailablePage } from '../shared/plan/welcome-template.ts';
import { statusStyles } from '../shared/status-styles.ts';
import {
  changeEpic,
  changeTask,
  choose,
  draftedEpics,
  freshDraft,
  planLines,
  possibleBlockers,
  readDraft,
  type DraftedEpic,
  type DraftedTask,
  type PlanDraft,
} from './plan-draft.ts';
import { planStyles } from './plan-styles.ts';
import { sharedFilesTemplate } from './shared-files-template.ts';
import { epicTemplate, type PlanActions } from './plan-template.ts';
import '../shared/looks/button.ts';

export class DroverPlan extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [
    noticeStyles,
    controlStyles,
    quietStyles,
    iconStyles,
    statusStyles,
    planStyles,
  ];
  declare host: Host | null;
  /** Undefined while it is being read, null once it was added or discarded. */
  #plan: ShownPlan | null | undefined = undefined;
  #draft: PlanDraft = freshDraft;
  #board: BoardController | null = null;
  #failed = '';
  /** For the newest texts and edges; null while it is unknown. */
  #check: PlanCheck | null = null;
  #isBusy = false;
  readonly #actions: PlanActions = {
    host: () => this.host,
    choose: (ids, isIn) => this.#take(choose(this.#draft, ids, isIn)),
    renameEpic: (id, title) => this.#take(changeEpic(this.#draft, id, title)),
    change: (id, change) => this.#take(changeTask(this.#draft, id, change)),
    addBlocker: (task) => this.#do(() => this.#pickBlocker(task)),
  };

  constructor() {
    super();
    this.host = null;
    this.addEventListener('keydown', this.#onKey);
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('host') || this.host === null || this.#board !== null) return;
    this.#draft = readDraft(this.host.memory.get());
    this.#board = new BoardController(this, this.host);
    this.#do(async () => {
      this.#plan = (await this.host?.action('readPlan', {}))?.plan ?? null;
      this.#tryPlan();
    });
  }

  override render(): TemplateResult | typeof nothing {
    const state = this.#board?.state ?? null;
    if (state === null) return nothing;
    const unavailable = unavailablePage(state, this.host);
    if (unavailable !== null) return unavailable;
    if (this.#plan === undefined) return html`<p class="page" role="status">Reading the plan …</p>`;
    if (this.#plan === null) {
      return html`<p class="page">This plan was added or discarded. Close this tab.</p>`;
    }
    return this.#page(this.#plan);
  }

  #page(plan: ShownPlan): TemplateResult {
    const epics = draftedEpics(plan, this.#draft);
    const tasks = epics.flatMap((epic) => epic.tasks);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return html`<main class="page">
      ${this.#header(plan, epics, tasks)}
      ${epics.map((epic) => epicTemplate(epic, byId, this.#actions))}
    </main>`;
  }

  #header(
    plan: ShownPlan,
    epics: readonly DraftedEpic[],
    tasks: readonly DraftedTask[],
  ): TemplateResult {
    const chosen = tasks.filter(({ isIn }) => isIn).length;
    const named = epics.filter(({ id }) => id !== null).length;
    return html`<header>
      <h1>Plan: ${formatCount(named, 'epic')}, ${formatCount(tasks.length, 'task')}</h1>
      <p>${originOf(plan)} Tick what is added, and edit the texts. Nothing runs yet.</p>
      <div class="buttons">
        <vscode-button
          ?disabled=${chosen === 0 || this.#isBusy}
          title="Adds what is ticked to the board (Ctrl+Enter)"
          @click=${() => this.#add()}
        >
          Add ${formatCount(chosen, 'Task')}
        </vscode-button>
        <vscode-button secondary ?disabled=${this.#isBusy} @click=${() => this.#editAsText(plan)}>
          Edit as Text
        </vscode-button>
        <vscode-button secondary ?disabled=${this.#isBusy} @click=${() => this.#discard()}>
          Discard
        </vscode-button>
      </div>
      ${this.#check === null ? nothing : checkTemplate(this.#check)}
      ${plan.source === 'issues' ? leftOutTemplate(plan) : nothing}
      ${sharedFilesTemplate(tasks, this.#actions)}
      ${
        this.#failed === ''
          ? nothing
          : html`<div class="note error" role="alert">
              ${icon('error')}<bdi>${visibleText(this.#failed)}</bdi>
            </div>`
      }
    </header>`;
  }

  #add(): void {
    const plan = this.#plan ?? null;
    if (plan === null || this.#isBusy) return;
    const text = planLines(plan, this.#draft);
    if (text !== '') this.#do(async () => this.host?.action('addPlan', { text }));
  }

  #editAsText(plan: ShownPlan): void {
    const text = planLines(plan, this.#draft);
    this.#do(async () => this.host?.action('editPlan', { text }));
  }

  #discard(): void {
    this.#do(async () => this.host?.action('dropPlan', {}));
  }

  async #pickBlocker({ id, title }: DraftedTask): Promise<void> {
    const plan = this.#plan ?? null;
    if (plan === null) return;
    const tasks = draftedEpics(plan, this.#draft).flatMap((epic) => epic.tasks);
    const items = possibleBlockers(tasks, id).map((each) => ({ id: each.id, label: each.title }));
    const chosen = await this.host?.action('pick', { title: `“${title}” waits for`, items });
    const blocker = chosen?.id ?? null;
    const present = tasks.find((task) => task.id === id)?.blockedBy ?? [];
    if (blocker !== null) this.#actions.change(id, { blockedBy: [...present, blocker] });
  }

  #take(draft: PlanDraft): void {
    this.#draft = draft;
    this.host?.memory.set(draft);
    this.requestUpdate();
    this.#tryPlan();
  }

  /**
   * Issues may wait for each other in a cycle, or already be on the board. The page does not wait
   * for the answer.
   */
  #tryPlan(): void {
    const plan = this.#plan ?? null;
    const draft = this.#draft;
    const text = plan?.source === 'issues' ? planLines(plan, draft) : '';
    this.#check = null;
    if (text === '' || this.host === null) return;
    this.host.action('checkPlan', { text }).then(
      (check) => {
        if (draft !== this.#draft) return;
        this.#check = check;
        this.requestUpdate();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #do(what: () => Promise<unknown>): void {
    this.#failed = '';
    this.#isBusy = true;
    this.requestUpdate();
    what()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isBusy = false;
        this.requestUpdate();
      });
  }

  #fail(error: unknown): void {
    this.#failed = error instanceof Error ? error.message : String(error);
    this.requestUpdate();
  }

  /** Up and Down move between checkboxes, and Ctrl+Enter adds the plan from anywhere. */
  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      // A text that is still being edited is saved first.
      (this.renderRoot as ShadowRoot).querySelector<HTMLElement>(':focus')?.blur();
      this.#add();
      event.preventDefault();
      return;
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const [target] = event.composedPath();
    const isBox = target instanceof HTMLInputElement && target.type === 'checkbox';
    if (step === 0 || !isBox) return;
    const all = [...this.renderRoot.querySelectorAll<HTMLInputElement>('input[type=checkbox]')];
    all[all.indexOf(target) + step]?.focus();
    event.preventDefault();
  };
}

function originOf(plan: ShownPlan): string {
  if (plan.source === 'issues') return `Issues of ${visibleLine(plan.repository)}.`;
  const { model, usage } = plan;
  const cost = usage.cost_usd === null ? '' : ` for ${formatCost(usage.cost_usd)}`;
  return `Planned by ${visibleLine(model)}${cost}.`;
}

function checkTemplate({
  problem,
  fresh,
  changed,
  unchanged,
}: PlanCheck): TemplateResult | typeof nothing {
  if (problem !== null)
    return html`<div class="note error" role="alert">
      ${icon('error')}
      <span>It cannot be added as it is: <bdi>${visibleText(problem)}</bdi></span>
    </div>`;
  if (changed + unchanged === 0) return nothing;
  const counts = [
    `${fresh === 1 ? '1 task of these is' : `${fresh} tasks of these are`} new`,
    `${changed} ${changed === 1 ? 'is' : 'are'} changed`,
    `${unchanged} ${unchanged === 1 ? 'is' : 'are'} unchanged since the last import`,
  ];
  return html`<p role="status">${counts.join(', ')}.</p>`;
}

/** They could start too early, so they are not among the rows. */
function leftOutTemplate({ left_out: left }: IssuePlanView): TemplateResult | typeof nothing {
  if (left.length === 0) return nothing;
  return html`<div class="note">
    ${icon('info')}
    <div>
      Left out, because they wait for open issues that are not imported:
      <ul>
        ${left.map(
          ({ id, title, waits_for: names }) =>
            html`<li><bdi>${visibleLine(title)}</bdi> (${id}) waits for ${names.join(', ')}</li>`,
        )}
      </ul>
    </div>
  </div>`;
}

customElements.define('drover-plan', DroverPlan);
