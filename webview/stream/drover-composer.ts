// The bottom of a stream: words for the agent, and what can be done with the task. Says `hint` with the text and `act`
// with the action.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { TaskView } from '../../server/protocol/views.ts';
import { controlStyles } from './control-styles.ts';
import { icon, iconStyles } from './icon.ts';
import {
  actionsFor,
  actionTexts,
  hintPrompt,
  hintRefusal,
  sendsBack,
  type TaskAction,
} from './task-actions.ts';

const hintCharsMax = 20_000;

export class DroverComposer extends LitElement {
  static override properties = {
    task: { attribute: false },
    draft: { attribute: false },
    isSending: { attribute: false },
    busyAction: { attribute: false },
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

  constructor() {
    super();
    this.task = null;
    this.draft = '';
    this.isSending = false;
    this.busyAction = null;
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
        maxlength=${hintCharsMax}
        .value=${this.draft}
        @input=${(event: Event) => {
          this.draft = (event.target as HTMLTextAreaElement).value;
          this.dispatchEvent(new CustomEvent<string>('draft', { detail: this.draft }));
        }}
        @keydown=${this.#onKey}
      ></textarea>
      <button
        type="button"
        class="primary"
        title="Send (Enter)"
        ?disabled=${this.isSending || this.draft.trim() === ''}
        @click=${() => this.#send()}
      >
        ${icon('send')} ${sendsBack(this.task) ? 'Send Back' : 'Send'}
      </button>
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
    this.dispatchEvent(new CustomEvent<string>('hint', { detail: text }));
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    // Enter also ends the choice of a character in an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#send();
  };
}

customElements.define('drover-composer', DroverComposer);
