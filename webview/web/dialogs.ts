// Messages, questions and choices on the page, instead of VS Code's own. Modal ones use <dialog>,
// which keeps the focus and restores it.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

export type Level = 'info' | 'warning' | 'error';

interface Choice {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
}

type Modal =
  | {
      readonly kind: 'question';
      readonly title: string;
      readonly detail: string;
      readonly button: string;
      readonly done: (isConfirmed: boolean) => void;
    }
  | {
      readonly kind: 'choice';
      readonly title: string;
      readonly items: readonly Choice[];
      readonly done: (id: string | null) => void;
    };

interface Note {
  readonly number: number;
  readonly level: Level;
  readonly text: string;
  readonly buttons: readonly string[];
  readonly done: (button: string | null) => void;
}

const noteMs = 8_000;
const notesMax = 4;
const shownMax = 200;

export class Dialogs extends LitElement {
  static override readonly properties = {
    modal: { state: true },
    notes: { state: true },
    filter: { state: true },
  };
  static override readonly styles = css`
    dialog {
      background: var(--vscode-editorWidget-background);
      color: var(--vscode-foreground);
      border: 1px solid var(--vscode-panel-border);
      border-radius: 6px;
      padding: 16px;
      max-width: min(560px, calc(100vw - 64px));
      max-height: calc(100dvh - 64px);
      box-sizing: border-box;
    }
    dialog::backdrop {
      background: rgb(0 0 0 / 40%);
    }
    h2 {
      font-size: 1.1em;
      margin: 0 0 8px;
    }
    p {
      white-space: pre-line;
      overflow-wrap: anywhere;
      margin: 0 0 16px;
    }
    button {
      font: inherit;
      min-height: 32px;
      padding: 4px 14px;
      border: 1px solid transparent;
      border-radius: 4px;
      cursor: pointer;
      background: var(--vscode-button-secondaryBackground);
      color: var(--vscode-button-secondaryForeground);
    }
    button.main {
      background: var(--vscode-button-background);
      color: var(--vscode-button-foreground);
    }
    button:focus-visible,
    input:focus-visible {
      outline: 2px solid var(--vscode-focusBorder);
      outline-offset: 1px;
    }
    .buttons {
      display: flex;
      gap: 8px;
      justify-content: flex-end;
      flex-wrap: wrap;
    }
    input {
      font: inherit;
      width: 100%;
      box-sizing: border-box;
      min-height: 32px;
      background: var(--vscode-input-background);
      color: var(--vscode-input-foreground);
      border: 1px solid var(--vscode-panel-border);
    }
    .choices {
      display: flex;
      flex-direction: column;
      gap: 2px;
      margin: 8px 0;
      max-height: 50dvh;
      overflow: auto;
    }
    .choices button {
      text-align: start;
    }
    .notes {
      position: fixed;
      inset-inline-end: 12px;
      inset-block-end: 64px;
      display: flex;
      flex-direction: column;
      gap: 8px;
      width: min(420px, calc(100vw - 24px));
      z-index: 10;
    }
    .note {
      display: flex;
      align-items: center;
      gap: 12px;
      background: var(--vscode-editorWidget-background);
      border: 1px solid var(--vscode-panel-border);
      border-inline-start: 4px solid var(--vscode-focusBorder);
      border-radius: 4px;
      padding: 10px 12px;
      overflow-wrap: anywhere;
    }
    .note.error {
      border-inline-start-color: var(--vscode-errorForeground);
    }
    .note > span {
      flex: 1;
      min-width: 0;
    }
    small {
      display: block;
      color: var(--vscode-descriptionForeground);
    }
    @media (max-width: 600px) {
      button,
      input {
        min-height: 44px;
      }
    }
  `;

  declare modal: Modal | null;
  declare notes: readonly Note[];
  declare filter: string;
  #last = 0;

  constructor() {
    super();
    this.modal = null;
    this.notes = [];
    this.filter = '';
  }

  tell(level: Level, text: string): void {
    void this.show(level, text, []);
  }

  /** Resolves with the button that was pressed, or null. An error stays until it is closed. */
  async show(level: Level, text: string, buttons: readonly string[]): Promise<string | null> {
    return await new Promise((resolve) => {
      this.#last += 1;
      const note: Note = { number: this.#last, level, text, buttons, done: resolve };
      this.notes = [...this.notes, note].slice(-notesMax);
      if (level === 'info' && buttons.length === 0) {
        setTimeout(() => this.#end(note, null), noteMs);
      }
    });
  }

  async confirm(title: string, detail: string, button: string): Promise<boolean> {
    return await new Promise((resolve) => {
      this.#open({ kind: 'question', title, detail, button, done: resolve });
    });
  }

  /** Resolves with the id of the choice, or null. */
  async pick(title: string, items: readonly Choice[]): Promise<string | null> {
    this.filter = '';
    return await new Promise((resolve) => {
      this.#open({ kind: 'choice', title, items, done: resolve });
    });
  }

  override render(): TemplateResult {
    return html`
      ${this.modal === null ? nothing : this.#renderModal(this.modal)}
      <div class="notes" role="status" aria-live="polite">
        ${repeat(
          this.notes,
          ({ number }) => number,
          (note) => this.#renderNote(note),
        )}
      </div>
    `;
  }

  override updated(): void {
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog !== null && !dialog.open) dialog.showModal();
  }

  #open(modal: Modal): void {
    this.#close(null);
    this.modal = modal;
  }

  #close(answer: string | null): void {
    const { modal } = this;
    this.modal = null;
    if (modal?.kind === 'question') modal.done(answer !== null);
    else modal?.done(answer);
  }

  #end(note: Note, button: string | null): void {
    if (!this.notes.includes(note)) return;
    this.notes = this.notes.filter((each) => each !== note);
    note.done(button);
  }

  #renderModal(modal: Modal): TemplateResult {
    return html`<dialog aria-labelledby="title" @close=${() => this.#close(null)}>
      <h2 id="title">${modal.title}</h2>
      ${
        modal.kind === 'question'
          ? html`<p>${modal.detail}</p>
              <div class="buttons">
                <button @click=${() => this.#close(null)}>Cancel</button>
                <button class="main" autofocus @click=${() => this.#close('yes')}>
                  ${modal.button}
                </button>
              </div>`
          : this.#renderChoices(modal.items)
      }
    </dialog>`;
  }

  #renderChoices(items: readonly Choice[]): TemplateResult {
    const words = this.filter.toLowerCase();
    const fits = ({ label, detail = '' }: Choice): boolean =>
      `${label} ${detail}`.toLowerCase().includes(words);
    const shown = items.filter(fits).slice(0, shownMax);
    return html`<input
        aria-label="Filter"
        placeholder="Filter"
        autofocus
        .value=${this.filter}
        @input=${(event: Event) => (this.filter = (event.target as HTMLInputElement).value)}
      />
      <div class="choices">
        ${shown.map(
          ({ id, label, detail }) =>
            html`<button @click=${() => this.#close(id)}>
              ${label}${detail === undefined || detail === '' ? nothing : html`<small>${detail}</small>`}
            </button>`,
        )}
      </div>
      <div class="buttons"><button @click=${() => this.#close(null)}>Cancel</button></div>`;
  }

  #renderNote(note: Note): TemplateResult {
    return html`<div class="note ${note.level}">
      <span>${note.text}</span>
      <div class="buttons">
        ${note.buttons.map(
          (button) => html`<button @click=${() => this.#end(note, button)}>${button}</button>`,
        )}
        <button aria-label="Close this message" @click=${() => this.#end(note, null)}>Close</button>
      </div>
    </div>`;
  }
}

customElements.define('drover-dialogs', Dialogs);
