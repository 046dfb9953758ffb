// The lists on the page of a task: acceptance criteria, dependencies in both directions, sub-tasks,
// history.

import { html, nothing, type TemplateResult } from 'lit';
import { formatCount } from '../../../server/core/format.ts';
import {
  listCandidates,
  candidateWords,
  standOfView,
} from '../../../server/protocol/candidates.ts';
import { askingTasks } from '../../../server/protocol/needs.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { foreseenConflicts, foreseenWords } from '../foreseen.ts';
import { runningGateWords } from '../running-gate.ts';
import { statusLook } from '../status-words.ts';
import type { VscodeTextfield } from '../looks/text-field.ts';
import '../looks/text-field.ts';
import '../looks/button.ts';
import { icon } from '../looks/icon.ts';
import { iconButton } from '../looks/icon-button.ts';
import { visibleLine } from '../looks/visible-text.ts';
import type { TaskEditor } from './task-edit.ts';
import { findDependents } from './task-edit.ts';
import type { HistoryLine } from './task-history.ts';

export interface ListParts {
  readonly task: TaskView;
  readonly board: StatusSnapshot;
  readonly editor: TaskEditor;
  readonly isReadOnly: boolean;
}

const criterionCharsMax = 2_000;

export function criteriaTemplate({ task, editor, isReadOnly }: ListParts): TemplateResult {
  const { acceptance_criteria: criteria, id } = task;
  const replace = (at: number, text: string): void => {
    if (text === criteria[at]) return;
    editor.edit(id, { accept: criteria.toSpliced(at, 1, ...(text === '' ? [] : [text])) });
  };
  const isMet = task.status === 'completed';
  return html`<section aria-labelledby="criteria">
    <h2 id="criteria">Acceptance criteria ${count(criteria.length)}</h2>
    <ul>
      ${criteria.map(
        (criterion, at) =>
          html`<li class="row">
            ${icon(isMet ? 'pass-filled' : 'circle', isMet ? 'tone-good' : 'tone-quiet')}
            <vscode-textfield
              class="quiet grow"
              .label=${`Criterion ${at + 1}`}
              maxlength=${criterionCharsMax}
              .value=${criterion}
              ?disabled=${isReadOnly}
              @change=${(event: Event) => replace(at, valueOf(event))}
            ></vscode-textfield>
            ${
              isReadOnly
                ? nothing
                : iconButton('trash', `Remove criterion ${at + 1}`, () => replace(at, ''))
            }
          </li>`,
      )}
    </ul>
    ${isReadOnly ? empty(criteria.length === 0, 'None') : nothing}
    ${
      isReadOnly
        ? nothing
        : adder('Add a criterion: what must be true when it is done', (text) =>
            editor.edit(id, { accept: [...criteria, text] }),
          )
    }
  </section>`;
}

export function subTasksTemplate({ task, board, editor, isReadOnly }: ListParts): TemplateResult {
  const parts = board.tasks.filter(({ parent_id }) => parent_id === task.id);
  if (parts.length === 0 && isReadOnly) return html`${nothing}`;
  const done = parts.filter(({ status }) => status === 'completed').length;
  const asking = askingTasks(board);
  return html`<section aria-labelledby="parts">
    <h2 id="parts">
      Sub-tasks
      ${parts.length === 0 ? nothing : html`<span class="count">${done}/${parts.length}</span>`}
    </h2>
    <ul>
      ${parts.map((part) => {
        const look = statusLook(part, asking.has(part.id));
        return html`<li class="row">
          ${icon(look.icon, `tone-${look.tone}`)}
          <button
            type="button"
            class="link grow"
            title=${look.words}
            @click=${() => editor.open(part.id)}
          >
            <bdi>${visibleLine(part.title)}</bdi>
          </button>
        </li>`;
      })}
    </ul>
    ${isReadOnly ? nothing : adder('Add a sub-task', (title) => editor.addSubTask(task.id, title))}
  </section>`;
}

export function candidatesTemplate({ task, board, editor }: ListParts): TemplateResult {
  const candidates = listCandidates(board.tasks, task.id);
  if (candidates.length === 0) return html`${nothing}`;
  return html`<section aria-labelledby="candidates">
    <h2 id="candidates">
      Candidates ${count(candidates.length)}
      ${iconButton('diff-multiple', 'Compare candidates', () => editor.compareCandidates(task.id))}
    </h2>
    <ul>
      ${candidates.map((each) => {
        const look = statusLook(each);
        const isOpen = task.status === 'blocked' && standOfView(each) === 'green';
        return html`<li class="row">
          ${icon(look.icon, `tone-${look.tone}`)}
          <button type="button" class="link grow" @click=${() => editor.open(each.id)}>
            ${candidateWords(each, task, look.words)}
          </button>
          ${
            isOpen
              ? html`<vscode-button secondary @click=${() => editor.land(each.id)}
                  >Land This One</vscode-button
                >`
              : nothing
          }
        </li>`;
      })}
    </ul>
  </section>`;
}

export function dependenciesTemplate(parts: ListParts): TemplateResult {
  const { task, board, editor, isReadOnly } = parts;
  const { id } = task;
  const byId = new Map(board.tasks.map((each) => [each.id, each]));
  const blockers = task.blocked_by
    .flatMap((each) => byId.get(each) ?? [])
    .filter(({ candidate_of: of }) => of !== id);
  const dependents = findDependents(board, id);
  const all = new Set([id, ...task.blocked_by, ...dependents.map((each) => each.id)]);
  const add = (title: string, chosen: (other: string) => void): TemplateResult | typeof nothing =>
    isReadOnly
      ? nothing
      : iconButton('add', title, () => editor.pickTask(title, board, all, chosen));
  return html`<section aria-labelledby="waits">
      <h2 id="waits">
        Waits for ${count(blockers.length)}
        ${add('Add a task to wait for', (other) => editor.edit(id, { add_blockers: [other] }))}
      </h2>
      ${chips(blockers, parts, (other) => editor.edit(id, { remove_blockers: [other] }))}
      ${empty(blockers.length === 0, 'Nothing')}
    </section>
    <section aria-labelledby="blocks">
      <h2 id="blocks">
        Blocks ${count(dependents.length)}
        ${add('Add a task that waits for this one', (other) => editor.edit(other, { add_blockers: [id] }))}
      </h2>
      ${chips(dependents, parts, (other) => editor.edit(other, { remove_blockers: [id] }))}
      ${empty(dependents.length === 0, 'Nothing')}
    </section>`;
}

function chips(
  tasks: readonly TaskView[],
  { editor, isReadOnly }: ListParts,
  remove: (id: string) => void,
): TemplateResult {
  return html`<ul class="chips">
    ${tasks.map((task) => {
      const look = statusLook(task);
      const title = visibleLine(task.title);
      return html`<li class="chip">
        ${icon(look.icon, `tone-${look.tone}`)}
        <button type="button" class="link" title=${look.words} @click=${() => editor.open(task.id)}>
          <bdi>${title}</bdi>
        </button>
        ${
          isReadOnly
            ? nothing
            : iconButton('close', `Remove the dependency on ${title}`, () => remove(task.id))
        }
      </li>`;
    })}
  </ul>`;
}

export function historyTemplate(
  lines: readonly HistoryLine[] | null,
  onToggle: (event: Event) => void,
): TemplateResult {
  return html`<details @toggle=${onToggle}>
    <summary>History</summary>
    ${
      lines === null
        ? html`<p class="empty" role="status">Reading …</p>`
        : html`<div class="times">
            ${lines.map(
              ({ atMs, words }) =>
                html`<time datetime=${new Date(atMs).toISOString()}
                    >${new Date(atMs).toLocaleString()}</time
                  ><span>${visibleLine(words)}</span>`,
            )}
          </div>`
    }
    ${empty(lines?.length === 0, 'Nothing has happened yet.')}
  </details>`;
}

function count(length: number): TemplateResult | typeof nothing {
  return length === 0
    ? nothing
    : html`<span class="count" aria-label=${formatCount(length, 'entry', 'entries')}
        >${length}</span
      >`;
}

function empty(isEmpty: boolean, words: string): TemplateResult | typeof nothing {
  return isEmpty ? html`<div class="empty">${words}</div>` : nothing;
}

/** A field that adds its text on Enter and stays open for the next one. */
function adder(label: string, add: (text: string) => void): TemplateResult {
  const take = (field: VscodeTextfield): void => {
    const text = field.value.trim();
    if (text === '') return;
    field.value = '';
    add(text);
  };
  return html`<div class="row">
    ${icon('add', 'tone-quiet')}
    <vscode-textfield
      class="quiet grow"
      .label=${label}
      placeholder=${label}
      maxlength=${criterionCharsMax}
      @keydown=${(event: KeyboardEvent) => {
        if (event.key === 'Enter' && !event.isComposing) take(event.target as VscodeTextfield);
      }}
      @blur=${(event: Event) => take(event.target as VscodeTextfield)}
    ></vscode-textfield>
  </div>`;
}

function valueOf(event: Event): string {
  return (event.target as VscodeTextfield).value.trim();
}

/** Conflicts with running or landed work, each with the button that makes this task wait. */
export function foreseenTemplate({ task, editor }: ListParts): readonly TemplateResult[] {
  return foreseenConflicts(task).map(
    (conflict) =>
      html`<div class="wide banner error" role="note">
        ${icon('warning')}<span>This task ${foreseenWords(conflict)}.</span>
        ${
          conflict.other === null
            ? nothing
            : html`<vscode-button
                secondary
                @click=${() => editor.waitFor(task.id, conflict.other ?? '')}
                >Wait for ${visibleLine(conflict.other)}</vscode-button
              >`
        }
      </div>`,
  );
}

export function runningGateTemplate(task: TaskView): TemplateResult | typeof nothing {
  const words = runningGateWords(task);
  return words === null
    ? nothing
    : html`<div class="wide banner" role="status">${icon('checklist')}<span>${words}.</span></div>`;
}
