// The notes that agents in a task's epic get, on the page of the task, where they can be added,
// kept and removed.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { noteCharactersMax } from '../../../server/core/notes/notes.ts';
import type { NoteView } from '../../../server/protocol/requests/notes.ts';
import type { Host } from '../host.ts';
import { controlStyles } from '../looks/control-styles.ts';
import { icon, iconStyles } from '../looks/icon.ts';
import { iconButton } from '../looks/icon-button.ts';
import { quietStyles } from '../looks/quiet-styles.ts';
import type { VscodeTextfield } from '../looks/text-field.ts';
import '../looks/text-field.ts';
import { visibleLine } from '../looks/visible-text.ts';
import { placeButton } from './place-button.ts';
import { taskStyles } from './task-styles.ts';

export class DroverNotes extends LitElement {
  static override properties = {
    host: { attribute: false },
    epic: { attribute: false },
    seq: { attribute: false },
  };
  static override styles = [controlStyles, iconStyles, quietStyles, taskStyles];
  declare host: Host | null;
  /** The epic, or null for the notes of the whole project. */
  declare epic: string | null;
  /** The board's number: the content is read again when it changes. */
  declare seq: number;
  #notes: readonly NoteView[] = [];
  #failure = '';
  #readAgain = false;
  #isReading = false;

  constructor() {
    super();
    this.host = null;
    this.epic = null;
    this.seq = 0;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('host') || changed.has('epic') || changed.has('seq')) void this.#read();
  }

  override render(): TemplateResult {
    const notes = this.epic === null ? this.#notes.filter(({ kept }) => kept) : this.#notes;
    const label =
      this.epic === null
        ? 'Add a note for all agents of the project'
        : 'Add a note for agents of the epic';
    return html`<section aria-labelledby="notes">
      <h2 id="notes">
        Notes ${notes.length === 0 ? nothing : html`<span class="count">${notes.length}</span>`}
      </h2>
      ${this.#failure === '' ? nothing : html`<div role="alert">${visibleLine(this.#failure)}</div>`}
      <ul>
        ${notes.map((note) => this.#row(note))}
      </ul>
      <div class="row">
        ${icon('add', 'tone-quiet')}
        <vscode-textfield
          class="quiet grow"
          .label=${label}
          placeholder=${`${label}: one fact`}
          maxlength=${noteCharactersMax}
          @change=${(event: Event) => this.#add(event.target as VscodeTextfield)}
        ></vscode-textfield>
      </div>
    </section>`;
  }

  #row(note: NoteView): TemplateResult {
    const text = visibleLine(note.text);
    return html`<li class="row">
      ${icon(note.kept ? 'notebook' : 'note', 'tone-quiet')}
      <span class="grow">
        <bdi>${text}</bdi>
        <span class="empty">${sourceOf(note)}</span>
        ${placeButton(this.host, note)}
      </span>
      ${
        note.kept
          ? nothing
          : iconButton('check', `Keep for the whole project: ${text}`, () =>
              this.#do(async () => this.host?.backend('notes.keep', { id: note.id })),
            )
      }
      ${iconButton('trash', `Remove the note: ${text}`, () =>
        this.#do(async () => this.host?.backend('notes.drop', { id: note.id })),
      )}
    </li>`;
  }

  #add(field: VscodeTextfield): void {
    const text = field.value.trim();
    field.value = '';
    const of = this.epic === null ? {} : { epic: this.epic };
    if (text !== '') this.#do(async () => this.host?.backend('notes.add', { text, ...of }));
  }

  #do(what: () => Promise<unknown>): void {
    this.#failure = '';
    what()
      .catch((error: unknown) => {
        this.#failure = error instanceof Error ? error.message : String(error);
      })
      .finally(() => void this.#read());
  }

  async #read(): Promise<void> {
    const { host, epic } = this;
    if (host === null) return;
    this.#readAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#readAgain) {
      this.#readAgain = false;
      this.#notes = await host
        .backend('notes.list', epic === null ? {} : { epic })
        .catch(() => this.#notes);
    }
    this.#isReading = false;
    this.requestUpdate();
  }
}

function sourceOf({ task_id: task, uses }: NoteView): string {
  const by = task === null ? 'by a person' : `by ${visibleLine(task)}`;
  return `${by}, in ${uses} ${uses === 1 ? 'prompt' : 'prompts'}`;
}

customElements.define('drover-notes', DroverNotes);
