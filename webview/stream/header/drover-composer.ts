// The bottom of a stream: messages to the agent, and the task's actions. Emits `hint` with the
// message and `act` with the action.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatCount } from '../../../server/core/format.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import type { Host } from '../../shared/host.ts';
import type { ComposedMessage } from '../session/hint-draft.ts';
import { controlStyles } from '../../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../../shared/looks/icon.ts';
import { iconButton } from '../../shared/looks/icon-button.ts';
import { reportFailure } from '../../shared/report-failure.ts';
import {
  actionsFor,
  actionTexts,
  canPlanFirst,
  followsUp,
  hintFate,
  hintPrompt,
  hintRefusal,
  sendLabel,
  type TaskAction,
} from './task-actions.ts';
import {
  completionStyles,
  completionTemplate,
  moved,
  type OpenCompletion,
  typedPath,
  withPath,
} from './path-completion.ts';
import '../../shared/looks/button.ts';

const hintCharsMax = 20_000;

export class DroverComposer extends LitElement {
  static override properties = {
    task: { attribute: false },
    draft: { attribute: false },
    isSending: { attribute: false },
    busyAction: { attribute: false },
    host: { attribute: false },
    said: { attribute: false },
  };
  static override styles = [
    controlStyles,
    iconStyles,
    completionStyles,
    css`
      .composer {
        padding: 6px 16px 8px;
        border-top: 1px solid var(--vscode-editorGroup-border, var(--vscode-contrastBorder));
      }
      .write {
        position: relative;
        display: flex;
        gap: 6px;
        align-items: flex-end;
      }
      textarea {
        flex: 1;
        min-width: 0;
        resize: none;
        field-sizing: content;
        min-height: 26px;
        max-height: 30vh;
      }
      .write {
        flex-wrap: wrap;
      }
      .fate {
        flex-basis: 100%;
        color: var(--vscode-descriptionForeground);
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 6px;
        margin-top: 4px;
      }
      .refusal {
        color: var(--vscode-descriptionForeground);
      }
    `,
  ];
  declare task: TaskView | null;
  declare draft: string;
  declare isSending: boolean;
  declare busyAction: TaskAction | null;
  declare host: Host | null;
  /** Earlier messages to this task, oldest first. */
  declare said: () => readonly string[];
  /** Position of the draft in the earlier messages (0 = a new message). */
  #back = 0;
  /** Sent to other agents of this workspace, oldest first. */
  #sent: readonly string[] = [];
  #completion: OpenCompletion | null = null;
  #plansFirst = false;

  constructor() {
    super();
    this.task = null;
    this.draft = '';
    this.isSending = false;
    this.busyAction = null;
    this.host = null;
    this.said = () => [];
  }

  override render(): TemplateResult {
    const refusal = hintRefusal(this.task);
    return html`<div class="composer">
      ${refusal === null ? this.#field() : html`<div class="refusal">${refusal}</div>`}
      ${this.#actions()}
    </div>`;
  }

  #field(): TemplateResult {
    const prompt = hintPrompt(this.task);
    return html`<div class="write">
      <textarea
        rows="1"
        aria-label=${prompt.replace('…', '')}
        placeholder=${prompt}
        aria-describedby="fate"
        aria-autocomplete="list"
        aria-controls=${this.#completion === null ? nothing : 'paths'}
        aria-activedescendant=${this.#completion === null ? nothing : `path-${this.#completion.active}`}
        maxlength=${hintCharsMax}
        .value=${this.draft}
        @input=${this.#onInput}
        @keydown=${this.#onKey}
        @focus=${() => void this.#readSent()}
        @blur=${() => this.#close()}
      ></textarea>
      ${completionTemplate(this.#completion, (path) => void this.#take(path))}
      ${iconButton('file', 'Add a file', () => void this.#addFile(), { keys: '@' })}
      ${this.#planToggle()}
      <vscode-button
        title="Send (Enter)"
        ?disabled=${this.isSending || this.draft.trim() === ''}
        @click=${() => this.#send()}
      >
        ${icon('send')} ${sendLabel(this.task)}
      </vscode-button>
      <div id="fate" class=${this.draft === '' ? 'hidden' : 'fate'}>${hintFate(this.task)}</div>
      <div class="hidden" role="status">${this.#completionWords()}</div>
    </div>`;
  }

  #completionWords(): string {
    if (this.#completion === null) return '';
    const { paths, active } = this.#completion;
    return `${formatCount(paths.length, 'file')}: ${paths[active] ?? ''}`;
  }

  /** The setting of a task that has not started, or of a future follow-up. */
  #planToggle(): TemplateResult | typeof nothing {
    const { task } = this;
    if (task === null || !canPlanFirst(task)) return nothing;
    const isOn = followsUp(task) ? this.#plansFirst : task.plan === true;
    const label = 'Plan first: the agent writes a plan that you approve';
    return iconButton('checklist', label, () => this.#setPlansFirst(task, !isOn), {
      isPressed: isOn,
    });
  }

  #setPlansFirst(task: TaskView, isOn: boolean): void {
    if (followsUp(task)) {
      this.#plansFirst = isOn;
      this.requestUpdate();
      return;
    }
    const params = { id: task.id, plan: isOn };
    this.host?.backend('task.edit', params).catch((error: unknown) => {
      if (this.host !== null) void reportFailure(this.host, error);
    });
  }

  #actions(): TemplateResult | typeof nothing {
    const actions = actionsFor(this.task);
    if (actions.length === 0) return nothing;
    return html`<div class="actions" role="toolbar" aria-label="Task">
      ${actions.map(
        (action) =>
          html`<button
            type="button"
            class="plain"
            ?disabled=${this.busyAction !== null}
            @click=${() => {
              this.dispatchEvent(new CustomEvent<TaskAction>('act', { detail: action }));
            }}
          >
            ${icon(this.busyAction === action ? 'loading' : actionTexts[action].icon)}
            ${actionTexts[action].label}
          </button>`,
      )}
    </div>`;
  }

  #send(): void {
    const text = this.draft.trim();
    if (text === '' || this.isSending) return;
    this.#back = 0;
    const detail = { text, plansFirst: this.#plansFirst };
    this.#plansFirst = false;
    void this.#readSent(text);
    this.dispatchEvent(new CustomEvent<ComposedMessage>('hint', { detail }));
  }

  async #readSent(add?: string): Promise<void> {
    const params = add === undefined ? {} : { add };
    // If it fails, the messages to this task are still available.
    const told = await this.host?.action('sentMessages', params).catch(() => null);
    this.#sent = told?.texts ?? this.#sent;
  }

  get #textarea(): HTMLTextAreaElement | null {
    return this.renderRoot.querySelector('textarea');
  }

  readonly #onInput = (event: Event): void => {
    const field = event.target as HTMLTextAreaElement;
    this.#back = 0;
    this.#write(field.value);
    void this.#complete(field);
  };

  /** Shows the files that match the text after an @. */
  async #complete(field: HTMLTextAreaElement): Promise<void> {
    const typed = typedPath(field.value, field.selectionStart);
    if (typed === null || this.host === null) return this.#close();
    const found = await this.host.action('findFiles', { text: typed.typed }).catch(() => null);
    const now = typedPath(field.value, field.selectionStart);
    // The user kept typing, so a later answer will arrive.
    if (now === null || now.start !== typed.start || now.typed !== typed.typed) return;
    const paths = found?.paths ?? [];
    this.#completion = paths.length === 0 ? null : { ...typed, paths, active: 0 };
    this.requestUpdate();
  }

  #close(): void {
    if (this.#completion === null) return;
    this.#completion = null;
    this.requestUpdate();
  }

  async #take(path: string): Promise<void> {
    const open = this.#completion;
    if (open === null) return;
    const { text, caret } = withPath(this.draft, open, path);
    this.#completion = null;
    await this.#writeAt(text, caret);
  }

  async #writeAt(text: string, caret: number): Promise<void> {
    this.#write(text);
    this.requestUpdate();
    await this.updateComplete;
    const field = this.#textarea;
    field?.focus();
    field?.setSelectionRange(caret, caret);
  }

  #write(draft: string): void {
    this.draft = draft;
    this.dispatchEvent(new CustomEvent<string>('draft', { detail: draft }));
  }

  /** Inserts the path of a chosen file at the caret. */
  async #addFile(): Promise<void> {
    const field = this.#textarea;
    if (field === null || this.host === null) return;
    const at = field.selectionStart;
    // If no file was selected, Enter sends the user's text.
    const { path } = await this.host.action('pickFile', {}).catch((error: unknown) => {
      if (this.host !== null) void reportFailure(this.host, error);
      return { path: null };
    });
    if (path === null) return this.#writeAt(this.draft, at);
    const before = this.draft.slice(0, at);
    const space = before === '' || /\s$/u.test(before) ? '' : ' ';
    const head = `${before}${space}${path} `;
    await this.#writeAt(`${head}${this.draft.slice(at)}`, head.length);
  }

  /** Recalls earlier messages, as in a terminal. */
  #recall(step: 1 | -1): boolean {
    const own = this.said();
    const said = [...this.#sent.filter((text) => !own.includes(text)), ...own];
    const back = this.#back + step;
    if (back < 0 || back > said.length || (this.#back === 0 && this.draft !== '')) return false;
    this.#back = back;
    this.#write(back === 0 ? '' : (said.at(-back) ?? ''));
    return true;
  }

  /** Returns true if the list of files handled the key. */
  #onListKey(event: KeyboardEvent): boolean {
    const open = this.#completion;
    if (open === null || event.isComposing) return false;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        this.#completion = moved(open, event.key === 'ArrowDown' ? 1 : -1);
        this.requestUpdate();
        return true;
      case 'Enter':
      case 'Tab':
        void this.#take(open.paths[open.active] ?? '');
        return true;
      case 'Escape':
        this.#close();
        return true;
      default:
        return false;
    }
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (this.#onListKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const isArrow = event.key === 'ArrowUp' || event.key === 'ArrowDown';
    if (isArrow && !event.shiftKey && !event.altKey && !event.isComposing) {
      if (this.#recall(event.key === 'ArrowUp' ? 1 : -1)) event.preventDefault();
      return;
    }
    // Enter also completes an input method's choice.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#send();
  };
}

customElements.define('drover-composer', DroverComposer);
