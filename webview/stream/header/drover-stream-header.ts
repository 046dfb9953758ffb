// The header of a stream: the task, its state, the attempt, the time, the cost, and its steps.

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatCost, formatDuration, stepText } from '../../../server/core/format.ts';
import {
  stepNames,
  type AttemptView,
  type StepName,
} from '../../../server/protocol/panel-views.ts';
import type { Usage } from '../../../server/protocol/agent-events.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import { statusLook, statusLooks, runsOnWorker } from '../../shared/status-words.ts';
import { statusStyles } from '../../shared/status-styles.ts';
import {
  elapsedMs,
  stepFacts,
  tokensText,
  usageFacts,
  type StepFacts,
} from '../../shared/log/attempt-facts.ts';
import { controlStyles } from '../../shared/looks/control-styles.ts';
import { headerStyles } from './header-styles.ts';
import { icon, iconStyles, type IconName } from '../../shared/looks/icon.ts';
import { actionsFor, actionTexts, type TaskAction } from './task-actions.ts';
import { runningGateWords } from '../../shared/running-gate.ts';
import { visibleLine } from '../../shared/looks/visible-text.ts';
import '../../shared/looks/button.ts';

const tickMs = 1_000;

const stepIcons = {
  waiting: 'circle',
  skipped: 'dash',
  running: 'loading',
  done: 'pass-filled',
  failed: 'error',
  stopped: 'debug-pause',
} as const;

/** Opened by clicking a step. */
const stepTitles: { readonly [N in StepName]: string } = {
  worktree: 'Open the worktree in a new window',
  setup: 'Show what the setup command printed',
  agent: 'Show the stream of the agent',
  commit: 'Show the change',
  gate: 'Show what the gate printed',
  land: 'Show the change',
};

/** Actions that help after a failure; all others stay at the bottom. */
const failureActions: ReadonlySet<TaskAction> = new Set([
  'retry',
  'startAnyway',
  'review',
  'openWorktree',
]);

const stepWords = {
  waiting: 'not begun',
  skipped: 'not needed',
  running: 'running',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
} as const;

function agentOf(from: TaskView | AttemptView | null): string | null {
  return from === null || from.agent === null ? null : stepText({ ...from, agent: from.agent });
}

export class DroverStreamHeader extends LitElement {
  static override properties = {
    task: { attribute: false },
    taskId: { attribute: false },
    attempts: { attribute: false },
    attempt: { attribute: false },
    usage: { attribute: false },
    subTasks: { attribute: false },
    isAsking: { attribute: false },
  };
  static override styles = [controlStyles, iconStyles, statusStyles, headerStyles];
  declare task: TaskView | null;
  declare taskId: string;
  declare attempts: readonly AttemptView[];
  declare attempt: AttemptView | null;
  declare usage: Usage | null;
  declare subTasks: readonly TaskView[];
  /** Its agent waits for an answer. */
  declare isAsking: boolean;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor() {
    super();
    this.task = null;
    this.taskId = '';
    this.attempts = [];
    this.attempt = null;
    this.usage = null;
    this.subTasks = [];
    this.isAsking = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#tick(false);
  }

  override render(): TemplateResult {
    const now = Date.now();
    const { task, attempt } = this;
    const look = task === null ? statusLooks.ready : statusLook(task, this.isAsking);
    const { tokens, costUsd } = usageFacts(attempt, this.usage);
    const elapsed = elapsedMs(attempt, now);
    const isOver = attempt !== null && attempt.ended_at_ms !== null;
    const isOnWorker = !isOver && task !== null && runsOnWorker(task);
    return html`<header>
      <div class="title">
        <span class="status tone-${look.tone}" title=${look.words}>
          ${icon(look.icon, look.tone === 'busy' ? 'spins' : '')}
        </span>
        <h1>${visibleLine(task?.title ?? (this.taskId || 'No task'))}</h1>
        <span class="id">${visibleLine(this.taskId)}</span>
      </div>
      <div class="facts">
        <span class="words">${look.words}</span>
        ${fact(agentOf(attempt) ?? agentOf(task) ?? '', 'Agent')}
        ${fact(attempt?.machine ?? task?.machine ?? '', 'Machine')}
        ${fact(isOnWorker ? 'on a worker' : '', 'Where its agent runs')} ${this.#attemptChoice()}
        ${elapsed === null ? nothing : html`<span title="Time">${formatDuration(elapsed)}</span>`}
        ${tokens === 0 ? nothing : fact(tokensText(tokens), 'Tokens read and written')}
        ${fact(costUsd === 0 ? '' : formatCost(costUsd), 'Estimated cost')}
      </div>
      <ol class="steps" aria-label="Steps" @keydown=${this.#onStepKey}>
        ${stepFacts(attempt, now).map((step) => this.#step(step))}
      </ol>
      ${this.#gate()} ${this.#parts()} ${this.#trouble()}
    </header>`;
  }

  override updated(): void {
    this.#tick(this.attempt !== null && this.attempt.ended_at_ms === null);
  }

  #attemptChoice(): TemplateResult | typeof nothing {
    if (this.attempts.length === 0) return nothing;
    if (this.attempts.length === 1) return html`<span>Attempt 1</span>`;
    return html`<select
      aria-label="Attempt"
      @change=${(event: Event) => {
        const number = Number((event.target as HTMLSelectElement).value);
        this.dispatchEvent(new CustomEvent<number>('attempt', { detail: number }));
      }}
    >
      ${this.attempts.map(
        (attempt) =>
          html`<option value=${attempt.number} ?selected=${attempt.number === this.attempt?.number}>
            Attempt ${attempt.number} of ${this.attempts.length} (${attempt.state})
          </option>`,
      )}
    </select>`;
  }

  #gate(): TemplateResult | typeof nothing {
    const words = this.task === null ? null : runningGateWords(this.task);
    return words === null ? nothing : html`<div class="gate" role="status">${words}</div>`;
  }

  #parts(): TemplateResult | typeof nothing {
    if (this.subTasks.length === 0) return nothing;
    return html`<div class="parts" role="group" aria-label="Sub-tasks">
      ${this.subTasks.map(
        (part) =>
          html`<button
            type="button"
            class="link"
            title=${statusLook(part).words}
            @click=${() => {
              this.dispatchEvent(new CustomEvent<string>('part', { detail: part.id }));
            }}
          >
            ${icon(statusLook(part).icon)} ${visibleLine(part.title)}
          </button>`,
      )}
    </div>`;
  }

  #trouble(): TemplateResult | typeof nothing {
    const { task, attempt } = this;
    const isNewest = attempt === null || attempt.number === this.attempts.at(-1)?.number;
    const block = isNewest && task?.status === 'blocked' ? task.blocked_reason : null;
    const text = block ?? attempt?.error ?? (isNewest ? task?.last_error : null) ?? null;
    const isOver = block !== null || attempt === null || attempt.ended_at_ms !== null;
    if (text === null || text === '' || !isOver || task?.status === 'completed') return nothing;
    const actions = actionsFor(task).filter((action) => failureActions.has(action));
    const failed = stepFacts(attempt, 0).find(({ state }) => state === 'failed')?.name ?? null;
    const isGate = /\bgate\b/u.test(text);
    const step = failed === 'setup' ? 'setup' : failed === 'gate' || isGate ? 'gate' : null;
    return html`<div
      class="trouble"
      role="group"
      aria-label=${block === null ? 'What failed' : 'Why it is blocked'}
    >
      ${icon(block === null ? 'error' : 'lock')}
      <div class="what">
        ${text.split('\n').map((line) => html`<div>${visibleLine(line)}</div>`)}
        <div class="next">
          ${
            step === null
              ? nothing
              : this.#button(step === 'gate' ? 'Gate Output' : 'Setup Output', 'output', () =>
                  this.#say('step', step),
                )
          }
          ${actions.map((action) =>
            this.#button(actionTexts[action].label, actionTexts[action].icon, () =>
              this.#say('act', action),
            ),
          )}
        </div>
      </div>
    </div>`;
  }

  /** One Tab stop; the arrow keys move from step to step. */
  readonly #onStepKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const all = [...this.renderRoot.querySelectorAll<HTMLElement>('.step .open')];
    all[all.indexOf(event.target as HTMLElement) + step]?.focus();
    event.preventDefault();
  };

  #button(label: string, iconName: IconName, onClick: () => void): TemplateResult {
    return html`<vscode-button secondary @click=${onClick}>
      ${icon(iconName)} ${label}
    </vscode-button>`;
  }

  #say(name: 'step' | 'act', detail: string): void {
    this.dispatchEvent(new CustomEvent<string>(name, { detail }));
  }

  /** A step that produced something is a button that opens it. */
  #step(step: StepFacts): TemplateResult {
    const { name, state, durationMs } = step;
    const inside = html`${icon(stepIcons[state], state === 'running' ? 'spins' : '')}
      <span>${name}</span><span class="hidden">${stepWords[state]}</span> ${
        durationMs === null
          ? nothing
          : html`<span class="duration">${formatDuration(durationMs)}</span>`
      }`;
    if (state === 'waiting' || state === 'skipped')
      return html`<li class="step ${state}">${inside}</li>`;
    return html`<li class="step ${state}">
      <button
        type="button"
        class="open"
        tabindex=${name === stepNames[0] ? 0 : -1}
        title=${stepTitles[name]}
        @click=${() => this.#say('step', name)}
      >
        ${inside}
      </button>
    </li>`;
  }

  #tick(isOn: boolean): void {
    if (isOn === (this.#timer !== null)) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = isOn ? setInterval(() => this.requestUpdate(), tickMs) : null;
  }
}

function fact(text: string, title: string): TemplateResult | typeof nothing {
  return text === '' ? nothing : html`<span title=${title}>${visibleLine(text)}</span>`;
}

customElements.define('drover-stream-header', DroverStreamHeader);
