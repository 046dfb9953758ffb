// The bottom of a stream: messages to the agent, and the actions on the task. Emits `hint` with the
// text and `act` with the action.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { TaskView } from '../../../server/protocol/views.ts';
import type { Host } from '../../shared/host.ts';
import { controlStyles } from '../../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../../shared/looks/icon.ts';
import { iconButton } from '../../shared/looks/icon-button.ts';
import { reportFailure } from '../../shared/report-failure.ts';
import {
  actionsFor,
  actionTexts,
  hintFate,
  hintPrompt,
  hintRefusal,
  sendsBack,
  type TaskAction,
} from './task-actions.ts';
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
    css`
      .composer {
        padding: 6px 16px 8px;
        border-top: 1px solid var(--vscode-editorGroup-border, var(--vscode-contrastBorder));
      }
      .write {
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
  /** Position of the draft in the earlier messages; 0: it is new. */
  #back = 0;

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
        maxlength=${hintCharsMax}
        .value=${this.draft}
        @input=${this.#onInput}
        @keydown=${this.#onKey}
      ></textarea>
      ${iconButton('file', 'Add a file', () => void this.#addFile(false), { keys: '@' })}
      <vscode-button
        title="Send (Enter)"
        ?disabled=${this.isSending || this.draft.trim() === ''}
        @click=${() => this.#send()}
      >
        ${icon('send')} ${sendsBack(this.task) ? 'Send Back' : 'Send'}
      </vscode-button>
      <div id="fate" class=${this.draft === '' ? 'hidden' : 'fate'}>${hintFate(this.task)}</div>
    </div>`;
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
    this.dispatchEvent(new CustomEvent<string>('hint', { detail: text }));
  }

  get #textarea(): HTMLTextAreaElement | null {
    return this.renderRoot.querySelector('textarea');
  }

  readonly #onInput = (event: Event): void => {
    const field = event.target as HTMLTextAreaElement;
    this.#back = 0;
    this.#write(field.value);
    const typed = (event as InputEvent).data;
    // At the start of a word: inside an address it is an ordinary letter.
    const before = field.value.slice(0, field.selectionStart);
    if (typed === '@' && /(?:^|\s)@$/u.test(before)) void this.#addFile(true);
  };

  #write(draft: string): void {
    this.draft = draft;
    this.dispatchEvent(new CustomEvent<string>('draft', { detail: draft }));
  }

  /**
   * Puts the path of a chosen file where the caret is; `hasSign`: in the place of the @ before it.
   */
  async #addFile(hasSign: boolean): Promise<void> {
    const field = this.#textarea;
    if (field === null || this.host === null) return;
    const at = field.selectionStart;
    // Without a file, the text is still the person's to send.
    const { path } = await this.host.action('pickFile', {}).catch((error: unknown) => {
      if (this.host !== null) void reportFailure(this.host, error);
      return { path: null };
    });
    const before = this.draft.slice(0, hasSign ? at - 1 : at);
    const rest = this.draft.slice(at);
    if (path !== null) {
      const space = before === '' || /\s$/u.test(before) ? '' : ' ';
      this.#write(`${before}${space}${path} ${rest}`);
      await this.updateComplete;
    }
    field.focus();
    const caret = path === null ? at : this.draft.length - rest.length;
    field.setSelectionRange(caret, caret);
  }

  /** The earlier messages, as in a terminal. */
  #recall(step: 1 | -1): boolean {
    const said = this.said();
    const back = this.#back + step;
    if (back < 0 || back > said.length || (this.#back === 0 && this.draft !== '')) return false;
    this.#back = back;
    this.#write(back === 0 ? '' : (said.at(-back) ?? ''));
    return true;
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const isArrow = event.key === 'ArrowUp' || event.key === 'ArrowDown';
    if (isArrow && !event.shiftKey && !event.altKey && !event.isComposing) {
      if (this.#recall(event.key === 'ArrowUp' ? 1 : -1)) event.preventDefault();
      return;
    }
    // Enter also ends the choice of a character in an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#send();
  };
}

customElements.define('drover-composer', DroverComposer);
