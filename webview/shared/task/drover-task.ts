// The page of a task: its fields and settings, edited in place.

import { taskAbove } from '../../../server/protocol/candidates.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import type { Host } from '../host.ts';
import { tellTime } from '../measured.ts';
import { statusStyles } from '../status-styles.ts';
import { controlStyles } from '../looks/control-styles.ts';
import { icon, iconStyles } from '../looks/icon.ts';
import { iconButton } from '../looks/icon-button.ts';
import { quietStyles } from '../looks/quiet-styles.ts';
import { codeStyles, proseStyles } from '../text/prose-styles.ts';
import type { FileReference } from '../text/file-reference.ts';
import { proseTemplate } from '../text/prose-template.ts';
import { visibleLine } from '../looks/visible-text.ts';
import { taskDescription, lateNote, readOnlyReason, TaskEditor } from './task-edit.ts';
import { formTemplate } from './task-form.ts';
import { historyLines, type HistoryLine } from './task-history.ts';
import {
  candidatesTemplate,
  criteriaTemplate,
  dependenciesTemplate,
  foreseenTemplate,
  runningGateTemplate,
  historyTemplate,
  subTasksTemplate,
  type ListParts,
} from './task-lists.ts';
import { taskStyles } from './task-styles.ts';
import '../looks/button.ts';
import '../looks/text-field.ts';
import './drover-attachment.ts';
import type { DroverDescriptionField } from './drover-description-field.ts';
import './drover-description-field.ts';
import './drover-notes.ts';
import './drover-review.ts';

const titleCharsMax = 500;
const descriptionCharsMax = 100_000;
const eventsMax = 500;

export class DroverTask extends LitElement {
  static override properties = {
    host: { attribute: false },
    task: { attribute: false },
    board: { attribute: false },
    agents: { attribute: false },
  };
  static override styles = [
    controlStyles,
    iconStyles,
    statusStyles,
    proseStyles,
    codeStyles,
    quietStyles,
    taskStyles,
  ];
  declare host: Host | null;
  declare task: TaskView | null;
  declare board: StatusSnapshot | null;
  declare agents: readonly string[];
  #editor: TaskEditor | null = null;
  /** The description while the user edits it. Null otherwise. */
  #draft: string | null = null;
  #history: readonly HistoryLine[] | null = null;
  #isHistoryOpen = false;
  #historyOf = 0;
  #hasPainted = false;

  constructor() {
    super();
    this.host = null;
    this.task = null;
    this.board = null;
    this.agents = [];
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (this.host !== null && this.#editor === null)
      this.#editor = new TaskEditor(this.host, () => this.requestUpdate());
    if (changed.has('task') && this.#isHistoryOpen && this.board?.seq !== this.#historyOf)
      void this.#readHistory();
  }

  override updated(): void {
    if (this.#hasPainted || this.task === null) return;
    this.#hasPainted = true;
    requestAnimationFrame(() => tellTime(this.host, 'task.firstPaint', this.host?.openedMs));
  }

  override render(): TemplateResult | typeof nothing {
    const { task, board } = this;
    const editor = this.#editor;
    if (task === null || board === null || editor === null) return nothing;
    const reason = readOnlyReason(task);
    const isReadOnly = reason !== null;
    const parts: ListParts = { task, board, editor, isReadOnly };
    return html`<div class="page">
      ${this.#banners(reason ?? lateNote(task), editor.failure)} ${foreseenTemplate(parts)}
      ${runningGateTemplate(task)}
      <div>
        <section>
          <textarea
            class="name"
            aria-label="Title"
            rows="1"
            maxlength=${titleCharsMax}
            .value=${task.title}
            ?disabled=${isReadOnly}
            @change=${(event: Event) => this.#rename(event.target as HTMLTextAreaElement)}
            @keydown=${this.#onTitleKey}
          ></textarea>
        </section>
        ${this.#description(task, isReadOnly)} ${criteriaTemplate(parts)}
        <drover-review .host=${this.host} .task=${task.id} .seq=${task.updated_at}></drover-review>
        ${candidatesTemplate(parts)} ${taskAbove(task) === null ? subTasksTemplate(parts) : nothing}
        ${dependenciesTemplate(parts)}
        <drover-notes .host=${this.host} .epic=${task.epic_id} .seq=${board.seq}></drover-notes>
      </div>
      <aside aria-label="Properties">
        ${formTemplate(task, {
          board,
          agents: this.agents,
          isReadOnly,
          edit: (fields) => editor.edit(task.id, fields),
          review: () => editor.review(task.id),
        })}
      </aside>
      <div class="wide">${historyTemplate(this.#history, this.#onHistory)}</div>
    </div>`;
  }

  #banners(note: string | null, failure: string): TemplateResult {
    return html`${
      failure === ''
        ? nothing
        : html`<div class="wide banner error" role="alert">
            ${icon('error')}<span>${visibleLine(failure)}</span>
          </div>`
    }
    ${
      note === null
        ? nothing
        : html`<div class="wide banner" role="note">${icon('info')}<span>${note}</span></div>`
    }`;
  }

  #description(task: TaskView, isReadOnly: boolean): TemplateResult {
    const text = taskDescription(task);
    return html`<section aria-labelledby="description">
      <h2 id="description">
        Description
        ${
          isReadOnly || this.#draft !== null
            ? nothing
            : iconButton('edit', 'Edit the description', () => this.#write(text))
        }
      </h2>
      ${this.#draft === null ? this.#read(text, isReadOnly) : this.#field(task)}
    </section>`;
  }

  #read(text: string, isReadOnly: boolean): TemplateResult {
    if (text !== '') {
      return html`<div
        class="text prose"
        @dblclick=${() => {
          if (!isReadOnly) this.#write(text);
        }}
      >
        ${proseTemplate(text, {
          openFile: this.#openFile,
          image: this.#image,
          isActive: true,
        })}
      </div>`;
    }
    if (isReadOnly) return html`<div class="empty">None.</div>`;
    return html`<button type="button" class="link" @click=${() => this.#write('')}>
      Describe what the agent should do: goal, files, constraints …
    </button>`;
  }

  #field(task: TaskView): TemplateResult {
    return html`<drover-description-field
        .host=${this.host}
        .maxLength=${descriptionCharsMax}
        .value=${this.#draft ?? ''}
        @draft=${(event: CustomEvent<string>) => (this.#draft = event.detail)}
        @keydown=${(event: KeyboardEvent) => this.#onFieldKey(event, task)}
      ></drover-description-field>
      <div class="buttons">
        <vscode-button @click=${() => this.#save(task)}>Save</vscode-button>
        <vscode-button secondary @click=${() => this.#leave()}>Cancel</vscode-button>
        <span class="empty">Markdown. Ctrl+Enter saves, Escape cancels.</span>
      </div>`;
  }

  readonly #openFile = ({ path, line }: FileReference): void => {
    const at = line === null ? {} : { line };
    void this.host?.action('openFile', { path, ...at });
  };

  readonly #image = (name: string, words: string): TemplateResult =>
    html`<drover-attachment .host=${this.host} .name=${name} .words=${words}></drover-attachment>`;

  #write(text: string): void {
    this.#draft = text;
    this.requestUpdate();
    void this.updateComplete.then(async () => {
      const field = this.renderRoot.querySelector<DroverDescriptionField>(
        'drover-description-field',
      );
      await field?.updateComplete;
      field?.focus();
    });
  }

  #save(task: TaskView): void {
    const text = this.#draft?.trim() ?? '';
    if (text !== taskDescription(task)) this.#editor?.edit(task.id, { description: text });
    this.#leave();
  }

  #leave(): void {
    this.#draft = null;
    this.requestUpdate();
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>('#description button')?.focus(),
    );
  }

  #onFieldKey(event: KeyboardEvent, task: TaskView): void {
    if (event.key === 'Escape') this.#leave();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.#save(task);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #rename(field: HTMLTextAreaElement): void {
    const title = field.value.replaceAll(/\s*\n\s*/gu, ' ').trim();
    const { task } = this;
    if (task === null || title === task.title) return;
    if (title === '') field.value = task.title;
    else this.#editor?.edit(task.id, { title });
  }

  readonly #onTitleKey = (event: KeyboardEvent): void => {
    const field = event.target as HTMLTextAreaElement;
    if (event.key === 'Escape') field.value = this.task?.title ?? '';
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    field.blur();
  };

  readonly #onHistory = (event: Event): void => {
    this.#isHistoryOpen = (event.target as HTMLDetailsElement).open;
    if (this.#isHistoryOpen) void this.#readHistory();
  };

  async #readHistory(): Promise<void> {
    const { task, host } = this;
    if (task === null || host === null) return;
    this.#historyOf = this.board?.seq ?? 0;
    try {
      const { events } = await host.backend('events.read', { task: task.id, limit: eventsMax });
      this.#history = historyLines(events);
    } catch {
      this.#history ??= [];
    }
    this.requestUpdate();
  }
}

customElements.define('drover-task', DroverTask);
