// The field for a description: Markdown, with images, files and selections that are pasted, dropped
// or added with its buttons. Emits `draft` with the whole text, and `change` like a text field.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { attachmentText } from '../../../server/core/plan/attachments.ts';
import type { Attached } from '../../messages/messages.ts';
import { AskFailure } from '../asks.ts';
import type { Host } from '../host.ts';
import { controlStyles } from '../looks/control-styles.ts';
import { iconStyles } from '../looks/icon.ts';
import { iconButton } from '../looks/icon-button.ts';
import { visibleLine } from '../looks/visible-text.ts';
import { inserted } from './insert-text.ts';
import { droppedAddresses, hasFiles, isFromEditor, readImage } from './transfer.ts';

const nothingAdded: Attached = { texts: [], refused: [] };
const describeIt = 'Image added. Describe it in place of the selected words.';

export class DroverDescriptionField extends LitElement {
  static override shadowRootOptions = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  static override properties = {
    host: { attribute: false },
    value: { attribute: false },
    label: { attribute: false },
    maxLength: { attribute: false },
  };
  static override styles = [
    controlStyles,
    iconStyles,
    css`
      textarea {
        display: block;
        width: 100%;
        min-height: var(--drover-field-height, 9em);
        max-height: 60vh;
        field-sizing: content;
        font-family: var(--vscode-editor-font-family);
        font-size: var(--vscode-editor-font-size);
        line-height: 1.5;
      }
      textarea.target {
        outline: 2px dashed var(--vscode-focusBorder);
        outline-offset: -2px;
      }
      .tools {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 2px 6px;
        min-height: 26px;
      }
      [role='status'] {
        color: var(--vscode-descriptionForeground);
      }
      [role='alert'] {
        flex-basis: 100%;
        color: var(--vscode-errorForeground);
      }
    `,
  ];
  declare host: Host | null;
  declare value: string;
  declare label: string;
  declare maxLength: number;
  #isTarget = false;
  #status = '';
  #refused: readonly string[] = [];

  constructor() {
    super();
    this.host = null;
    this.value = '';
    this.label = 'Description';
    this.maxLength = 100_000;
  }

  override render(): TemplateResult {
    return html`<textarea
        aria-label=${this.label}
        aria-describedby="hint"
        maxlength=${this.maxLength}
        class=${this.#isTarget ? 'target' : ''}
        .value=${this.value}
        @input=${(event: Event) => this.#write((event.target as HTMLTextAreaElement).value)}
        @change=${() => this.dispatchEvent(new Event('change'))}
        @paste=${this.#onPaste}
        @dragover=${this.#onDragOver}
        @dragleave=${() => this.#show(false)}
        @drop=${this.#onDrop}
      ></textarea>
      <div class="tools" role="toolbar" aria-label="Add to ${this.label}">
        ${iconButton('file-media', 'Add images', () => void this.#take(() => this.#pickImages()))}
        ${iconButton('file', 'Add a file', () => void this.#take(() => this.#pickFile()))}
        ${iconButton(
          'code',
          "Add the editor's selection",
          () => void this.#take(() => this.#quote()),
        )}
        <span id="hint" role="status">
          ${this.#status === '' ? 'Images and files can be pasted or dropped here.' : this.#status}
        </span>
        ${
          this.#refused.length === 0
            ? nothing
            : html`<div role="alert">
                ${this.#refused.map((sentence) => html`<div>${visibleLine(sentence)}</div>`)}
              </div>`
        }
      </div>`;
  }

  #write(text: string): void {
    this.value = text;
    this.dispatchEvent(new CustomEvent<string>('draft', { detail: text }));
  }

  #show(isTarget: boolean): void {
    this.#isTarget = isTarget;
    this.requestUpdate();
  }

  readonly #onDragOver = (event: DragEvent): void => {
    if (event.dataTransfer === null || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    if (!this.#isTarget) this.#show(true);
  };

  readonly #onDrop = (event: DragEvent): void => {
    this.#show(false);
    const { dataTransfer: transfer } = event;
    if (transfer === null || !hasFiles(transfer)) return;
    event.preventDefault();
    void this.#take(() => this.#transferred(transfer));
  };

  readonly #onPaste = (event: ClipboardEvent): void => {
    const { clipboardData: transfer } = event;
    if (transfer === null) return;
    if (hasFiles(transfer)) {
      event.preventDefault();
      void this.#take(() => this.#transferred(transfer));
    } else if (isFromEditor(transfer)) {
      const text = transfer.getData('text/plain');
      event.preventDefault();
      void this.#take(async () => {
        const quoted = await this.#host.action('quoteSelection', { text });
        return { texts: [quoted.text ?? text], refused: [] };
      });
    }
  };

  /** The data can be read only now, in the turn of the event; the files can be read later. */
  #transferred(transfer: DataTransfer): Promise<Attached> {
    const uris = droppedAddresses(transfer);
    const files = [...transfer.files];
    return uris.length > 0 ? this.#host.action('attachFiles', { uris }) : this.#keep(files);
  }

  async #keep(files: readonly File[]): Promise<Attached> {
    const texts: string[] = [];
    const refused: string[] = [];
    for (const file of files) {
      const image = await readImage(file);
      if (image.refused === null) {
        const { name } = await this.#host.backend('attachment.add', { content: image.content });
        texts.push(attachmentText(name, file.name));
      } else refused.push(image.refused);
    }
    return { texts, refused };
  }

  #pickImages(): Promise<Attached> {
    return this.#host.action('pickImages', {});
  }

  async #pickFile(): Promise<Attached> {
    const { path } = await this.#host.action('pickFile', {});
    return path === null ? nothingAdded : { texts: [`\`${path}\``], refused: [] };
  }

  async #quote(): Promise<Attached> {
    const { text } = await this.#host.action('quoteSelection', {});
    return text === null
      ? { texts: [], refused: ['Nothing is selected in a visible editor of this repository.'] }
      : { texts: [text], refused: [] };
  }

  get #host(): Host {
    if (this.host === null) throw new Error('The extension is not connected.');
    return this.host;
  }

  async #take(attach: () => Promise<Attached>): Promise<void> {
    this.#refused = [];
    this.#status = 'Adding …';
    // In this turn, because a drop has its data only as long as its event.
    const adding = attach();
    this.requestUpdate();
    const { texts, refused } = await adding.catch((error: unknown): Attached => ({
      texts: [],
      refused: [error instanceof AskFailure ? error.message : String(error)],
    }));
    this.#status = texts.some((text) => text.startsWith('![')) ? describeIt : '';
    this.#refused = refused;
    if (texts.length > 0) await this.#insert(together(texts));
    this.requestUpdate();
  }

  async #insert(added: string): Promise<void> {
    const field = this.renderRoot.querySelector('textarea');
    if (field === null) return;
    const { selectionStart: start, selectionEnd: end } = field;
    const next = inserted({ text: this.value, start, end }, added);
    this.#write(next.text);
    this.dispatchEvent(new Event('change'));
    await this.updateComplete;
    field.focus();
    field.setSelectionRange(next.start, next.end);
  }
}

function together(texts: readonly string[]): string {
  return texts.join(texts.every((text) => text.startsWith('`')) ? ' ' : '\n\n');
}

customElements.define('drover-description-field', DroverDescriptionField);
