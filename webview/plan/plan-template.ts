// The rows of a plan: epics with their tasks, each with its checkbox, its texts and its blockers.

import { html, nothing, type TemplateResult } from 'lit';
import { formatCount } from '../../server/core/format.ts';
import { icon } from '../shared/looks/icon.ts';
import { iconButton } from '../shared/looks/icon-button.ts';
import type { Host } from '../shared/host.ts';
import type { VscodeTextfield } from '../shared/looks/text-field.ts';
import '../shared/looks/text-field.ts';
import type { DroverDescriptionField } from '../shared/task/drover-description-field.ts';
import '../shared/task/drover-description-field.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import type { DraftedEpic, DraftedTask, TaskChange } from './plan-draft.ts';

export interface PlanActions {
  readonly host: () => Host | null;
  readonly choose: (ids: readonly string[], isIn: boolean) => void;
  readonly renameEpic: (id: string, title: string) => void;
  readonly change: (id: string, change: TaskChange) => void;
  /** Asks which task it should wait for. */
  readonly addBlocker: (task: DraftedTask) => void;
}

const titleCharsMax = 200;
const textCharsMax = 20_000;
const criterionCharsMax = 2_000;

export function epicTemplate(
  epic: DraftedEpic,
  byId: ReadonlyMap<string, DraftedTask>,
  actions: PlanActions,
): TemplateResult {
  const { id, title, tasks } = epic;
  const chosen = tasks.filter(({ isIn }) => isIn).length;
  const ids = tasks.map((task) => task.id);
  return html`<section class="epic" aria-label=${visibleLine(title)}>
    <div class="row">
      <input
        type="checkbox"
        aria-label=${`Add the tasks of ${visibleLine(title)}`}
        .checked=${chosen === tasks.length}
        .indeterminate=${chosen > 0 && chosen < tasks.length}
        @change=${(event: Event) => actions.choose(ids, isChecked(event))}
      />
      ${
        id === null
          ? html`<span class="title grow">${title}</span>`
          : titleField(`Title of the epic ${visibleLine(title)}`, title, (text) =>
              actions.renameEpic(id, text),
            )
      }
    </div>
    <ul>
      ${tasks.map((task) => taskTemplate(task, byId, actions))}
    </ul>
  </section>`;
}

function taskTemplate(
  task: DraftedTask,
  byId: ReadonlyMap<string, DraftedTask>,
  actions: PlanActions,
): TemplateResult {
  const title = visibleLine(task.title);
  return html`<li class="task ${task.isIn ? '' : 'out'}">
    <div class="row">
      <input
        type="checkbox"
        aria-label=${`Add ${title}`}
        .checked=${task.isIn}
        @change=${(event: Event) => actions.choose([task.id], isChecked(event))}
      />
      ${titleField(`Title of ${title}`, task.title, (text) =>
        actions.change(task.id, { title: text }),
      )}
      ${
        task.priority === 'normal'
          ? nothing
          : html`<span class="priority">${task.priority} priority</span>`
      }
    </div>
    <div class="below">
      ${waitsTemplate(task, byId, actions)}
      <details>
        <summary>${summaryOf(task)}</summary>
        ${textsTemplate(task, actions)}
      </details>
    </div>
  </li>`;
}

function summaryOf({ criteria, description }: DraftedTask): string {
  const count = formatCount(criteria.length, 'criterion', 'criteria');
  const text = visibleLine(firstWords(description.slice(0, 300)));
  return text === '' ? count : `${count} · ${text}`;
}

/** The first line of a description without Markdown markup. */
export function firstWords(description: string): string {
  const line = description.split('\n').find((each) => /\w/u.test(each)) ?? '';
  return line
    .replace(/^[\s>#*+-]+/u, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .replaceAll(/\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)/gu, '');
}

function waitsTemplate(
  task: DraftedTask,
  byId: ReadonlyMap<string, DraftedTask>,
  { change, addBlocker }: PlanActions,
): TemplateResult {
  const title = visibleLine(task.title);
  const remove = (id: string): void =>
    change(task.id, { blockedBy: task.blockedBy.filter((each) => each !== id) });
  return html`<div class="waits">
    ${task.blockedBy.length === 0 ? 'Can start at once' : 'Waits for'}
    ${task.blockedBy.map((id) => {
      const blocker = byId.get(id);
      const name = visibleLine(blocker?.title ?? id);
      const isOut = blocker?.isIn === false;
      return html`<span
        class="chip ${isOut ? 'out' : ''}"
        title=${isOut ? `${name} is left out: what it waits for is waited for instead.` : name}
      >
        <bdi>${name}</bdi>
        ${iconButton('close', `Remove the dependency of ${title} on ${name}`, () => remove(id))}
      </span>`;
    })}
    ${iconButton('add', `Add a task that ${title} waits for`, () => addBlocker(task))}
  </div>`;
}

function textsTemplate(task: DraftedTask, { change, host }: PlanActions): TemplateResult {
  const { id, criteria, title, description } = task;
  const name = visibleLine(title);
  const replace = (at: number, text: string): void =>
    change(id, { criteria: criteria.toSpliced(at, 1, ...(text === '' ? [] : [text])) });
  return html`<h2>Description</h2>
    <drover-description-field
      .host=${host()}
      .label=${`Description of ${name}`}
      .maxLength=${textCharsMax}
      .value=${description}
      @change=${(event: Event) =>
        change(id, { description: (event.target as DroverDescriptionField).value.trim() })}
    ></drover-description-field>
    <h2>Acceptance criteria</h2>
    <ul>
      ${criteria.map(
        (criterion, at) =>
          html`<li class="row">
            ${icon('circle', 'tone-quiet')}
            <vscode-textfield
              class="quiet grow"
              .label=${`Criterion ${at + 1} of ${name}`}
              maxlength=${criterionCharsMax}
              .value=${criterion}
              @change=${(event: Event) => replace(at, valueOf(event))}
            ></vscode-textfield>
            ${iconButton('trash', `Remove criterion ${at + 1} of ${name}`, () => replace(at, ''))}
          </li>`,
      )}
    </ul>
    <div class="row">
      ${icon('add', 'tone-quiet')}
      <vscode-textfield
        class="quiet grow"
        .label=${`Add a criterion to ${name}`}
        placeholder="Add a criterion: what must be true when it is done"
        maxlength=${criterionCharsMax}
        @change=${(event: Event) => {
          const text = valueOf(event);
          (event.target as VscodeTextfield).value = '';
          if (text !== '') change(id, { criteria: [...criteria, text] });
        }}
      ></vscode-textfield>
    </div>`;
}

/** An empty title is not accepted. */
function titleField(label: string, title: string, take: (text: string) => void): TemplateResult {
  return html`<vscode-textfield
    class="quiet grow"
    .label=${label}
    maxlength=${titleCharsMax}
    .value=${title}
    @change=${(event: Event) => {
      const text = valueOf(event);
      if (text === '') (event.target as VscodeTextfield).value = title;
      else if (text !== title) take(text);
    }}
  ></vscode-textfield>`;
}

function isChecked(event: Event): boolean {
  return (event.target as HTMLInputElement).checked;
}

function valueOf(event: Event): string {
  return (event.target as VscodeTextfield).value.trim();
}
