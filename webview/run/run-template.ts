// The parts of a run's page: figures, critical path, times, cost, and the outcome of each task.

import { html, nothing, type TemplateResult } from 'lit';
import { formatCost, formatDuration, stepText } from '../../server/core/format.ts';
import type { PathStep } from '../../server/core/history/critical-path.ts';
import type { Report, ReportTask } from '../../server/core/history/report.ts';
import { countOpen } from '../../server/core/plan/outcome.ts';
import type { PeriodKind } from '../../server/core/history/task-story.ts';
import { statusLooks } from '../shared/status-words.ts';
import { icon } from '../shared/looks/icon.ts';
import { periodWords, toneForKind } from './period-words.ts';
import { causeWords, gateWords, shortLine } from './run-words.ts';

export interface RunActions {
  readonly openTask: (task: string, attempt?: number) => void;
  /** The change of a task or an epic in VS Code's diff editor. */
  readonly review: (id: string) => void;
  /** The name that people use. */
  readonly branchName: (branch: string) => string;
  readonly more: (section: string) => void;
  /** Maximum number of rows in a section. */
  readonly rowsOf: (section: string) => number;
}

const tokens = new Intl.NumberFormat('en-US');

/** A figure that most runs lack. */
function optional(name: string, count: number, tone: string): readonly Figure[] {
  return count === 0 ? [] : [[name, String(count), tone]];
}

/** Name, value and tone. The task counts come first, and add up to the tasks of the run. */
type Figure = readonly [string, string, string];

export function figuresTemplate(report: Report): TemplateResult {
  const { counts, cost, gate, attempts } = report;
  const { landed, done, failed, waits, running, cancelled } = counts;
  const figures: readonly Figure[] = [
    ['Landed', String(landed), landed > 0 ? 'tone-good' : ''],
    ...optional('Done, not on the target yet', done, 'tone-good'),
    ['Failed', String(failed), failed > 0 ? 'tone-bad' : ''],
    ...optional(waits === 1 ? 'Waits for you' : 'Wait for you', waits, 'tone-asks'),
    ...optional('Running', running, ''),
    ['Open', String(countOpen(counts)), ''],
    ...optional('Canceled', cancelled, ''),
    ['Time', formatDuration(report.duration_ms), ''],
    ['Agents running', formatDuration(report.time.agent), ''],
    ['Attempts', String(attempts.length), ''],
    ['Gate', gate.runs === 0 ? 'did not run' : `${gate.passed} of ${gate.runs} passed`, ''],
    ['Cost', formatCost(cost.usd), ''],
  ];
  return html`<dl class="figures">
    ${figures.map(
      ([name, value, tone]) =>
        html`<div>
          <dt>${name}</dt>
          <dd class=${tone}>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

export function pathTemplate(report: Report, actions: RunActions): TemplateResult | typeof nothing {
  const steps = report.critical_path;
  if (steps.length === 0) return nothing;
  const tookMs = steps.reduce((sum, step) => sum + step.ended_at_ms - step.started_at_ms, 0);
  const share = report.duration_ms === 0 ? 0 : Math.min(1, tookMs / report.duration_ms);
  return tableSection(
    actions,
    {
      name: 'path',
      title: 'Critical path',
      note: pathNote(steps.length, share),
    },
    [
      'Task',
      'Started after',
      { title: 'Took', look: 'number' },
      { title: 'Of which', look: 'wide' },
    ],
    steps,
    (step) => pathRow(step, steps, actions),
  );
}

function pathNote(count: number, share: number): string {
  const time = `${Math.round(share * 100)} % of the time`;
  return count === 1
    ? `This task set the pace (${time}). Speeding up others would not have helped.`
    : `These ${count} tasks set the pace (${time}). Speeding up others would not have helped.`;
}

function pathRow(step: PathStep, steps: readonly PathStep[], actions: RunActions): TemplateResult {
  const before = steps.find(({ task_id: id }) => id === step.after?.task_id)?.title ?? '';
  const after =
    step.after === null
      ? 'the start of the run'
      : `${shortLine(before)} ${step.after.kind === 'slot' ? 'freed a worker' : 'landed'}`;
  const took = step.ended_at_ms - step.started_at_ms;
  const kinds = Object.entries(step.time) as [PeriodKind, number][];
  const words = kinds.map(
    ([kind, ms]) => `${periodWords[kind].toLowerCase()} ${formatDuration(ms)}`,
  );
  return html`<tr>
    <td>${taskLink(step.task_id, step.title, actions)}</td>
    <td><bdi>${after}</bdi></td>
    <td class="number">${formatDuration(took)}</td>
    <td class="wide" title=${words.join(', ')}>
      <span class="share" role="img" aria-label=${words.join(', ')}>
        ${kinds.map(([kind, ms]) => barPart(kind, took === 0 ? 0 : ms / took))}
      </span>
    </td>
  </tr>`;
}

/** A colored part of a bar; `share` is its share of the whole. */
function barPart(kind: PeriodKind, share: number): TemplateResult {
  return html`<i class=${toneForKind(kind)} .style=${`width: ${(share * 100).toFixed(2)}%`}></i>`;
}

export function timeTemplate(report: Report, actions: RunActions): TemplateResult {
  const kinds = (Object.keys(periodWords) as PeriodKind[])
    .filter((kind) => report.time[kind] > 0)
    .sort((a, b) => report.time[b] - report.time[a]);
  const longest = Math.max(1, ...kinds.map((kind) => report.time[kind]));
  return section(
    actions,
    {
      name: 'time',
      title: 'Where the time went',
      note: `All tasks together.${gateWords(report) === null ? '' : ` ${gateWords(report)}`}`,
      count: kinds.length,
    },
    html`<table>
      <tbody>
        ${kinds.map(
          (kind) =>
            html`<tr>
              <th scope="row">${periodWords[kind]}</th>
              <td class="number">${formatDuration(report.time[kind])}</td>
              <td class="wide">
                <span class="share">${barPart(kind, report.time[kind] / longest)}</span>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>`,
  );
}

export function waitsTemplate(
  report: Report,
  actions: RunActions,
): TemplateResult | typeof nothing {
  if (report.waits.length === 0) return nothing;
  const titles = new Map(
    [...report.landed, ...report.left].map(({ id, title }) => [id, title] as const),
  );
  return tableSection(
    actions,
    { name: 'waits', title: 'Longest waits' },
    ['Task', 'What it waited for', { title: 'Time', look: 'number' }],
    report.waits,
    (wait) =>
      html`<tr>
        <td>${taskLink(wait.task_id, titles.get(wait.task_id) ?? wait.task_id, actions)}</td>
        <td>
          ${periodWords[wait.kind]}${
            wait.on.length === 0
              ? nothing
              : html`:
                  <bdi>${wait.on.map((on) => shortLine(titles.get(on) ?? on)).join(', ')}</bdi>`
          }
        </td>
        <td class="number">${formatDuration(wait.ms)}</td>
      </tr>`,
  );
}

export function costTemplate(report: Report, actions: RunActions): TemplateResult | typeof nothing {
  const models = report.cost.by_model;
  if (models.length === 0) return nothing;
  return tableSection(
    actions,
    { name: 'cost', title: 'Cost by agent and model' },
    [
      'Agent and model',
      { title: 'Attempts', look: 'number' },
      { title: 'Input tokens', look: 'number' },
      { title: 'Output tokens', look: 'number' },
      { title: 'Cost', look: 'number' },
    ],
    models,
    (model) =>
      html`<tr>
        <td><bdi>${shortLine(stepText(model))}</bdi></td>
        <td class="number">${model.attempts}</td>
        <td class="number">${tokens.format(model.input_tokens)}</td>
        <td class="number">${tokens.format(model.output_tokens)}</td>
        <td class="number">${formatCost(model.usd)}</td>
      </tr>`,
  );
}

export function landedTemplate(report: Report, actions: RunActions): TemplateResult {
  const { landed } = report;
  return tableSection(
    actions,
    {
      name: 'landed',
      title: 'Landed',
      note: landed.length === 0 ? 'Nothing landed.' : '',
    },
    [
      'Task',
      'Commit',
      'Branch',
      { title: 'Attempts', look: 'number' },
      { title: 'Cost', look: 'number' },
    ],
    landed,
    (task) => landedRow(task, actions),
  );
}

function landedRow(task: ReportTask, actions: RunActions): TemplateResult {
  const sha = task.sha?.slice(0, 8) ?? null;
  return html`<tr>
    <td>${taskLink(task.id, task.title, actions)}</td>
    <td>
      ${
        sha === null
          ? 'no commit'
          : html`<button
              type="button"
              class="link"
              title="Show the change of this commit"
              @click=${() => actions.review(task.id)}
            >
              ${sha}
            </button>`
      }
    </td>
    <td><bdi>${actions.branchName(task.branch ?? '')}</bdi></td>
    <td class="number">${task.attempts}</td>
    <td class="number">${formatCost(task.usd)}</td>
  </tr>`;
}

export function leftTemplate(report: Report, actions: RunActions): TemplateResult | typeof nothing {
  if (report.left.length === 0) return nothing;
  const errors = new Map(report.retries.map(({ task_id: id, error }) => [id, error] as const));
  return tableSection(
    actions,
    { name: 'left', title: 'Not landed' },
    ['Task', 'State', 'Why its last attempt did not land'],
    report.left,
    (task) => {
      const look = statusLooks[task.status];
      return html`<tr>
        <td>${taskLink(task.id, task.title, actions)}</td>
        <td><span class="state tone-${look.tone}">${icon(look.icon)}${look.words}</span></td>
        <td><bdi>${shortLine(errors.get(task.id) ?? '')}</bdi></td>
      </tr>`;
    },
  );
}

export function retriesTemplate(
  report: Report,
  actions: RunActions,
): TemplateResult | typeof nothing {
  const { retries } = report;
  if (retries.length === 0) return nothing;
  const titles = new Map(report.attempts.map(({ task_id: id, title }) => [id, title] as const));
  return tableSection(
    actions,
    { name: 'retries', title: 'Attempts that did not land' },
    ['Task', 'Cause', 'Error', { title: 'Took', look: 'number' }],
    retries,
    (retry) =>
      html`<tr>
        <td>
          ${taskLink(
            retry.task_id,
            `${titles.get(retry.task_id) ?? retry.task_id} (${retry.attempt})`,
            actions,
            retry.attempt,
          )}
        </td>
        <td>${causeWords(retry.cause)}</td>
        <td><bdi>${shortLine(retry.error ?? '')}</bdi></td>
        <td class="number">${formatDuration(retry.ms)}</td>
      </tr>`,
  );
}

function taskLink(
  id: string,
  title: string,
  actions: RunActions,
  attempt?: number,
): TemplateResult {
  return html`<button type="button" class="link" @click=${() => actions.openTask(id, attempt)}>
    <bdi>${shortLine(title)}</bdi>
  </button>`;
}

function rows<T>(
  name: string,
  all: readonly T[],
  actions: RunActions,
  row: (each: T) => TemplateResult,
): readonly TemplateResult[] {
  return all.slice(0, actions.rowsOf(name)).map(row);
}

interface SectionHead {
  readonly name: string;
  readonly title: string;
  readonly note?: string;
  /** Number of existing rows; a button shows more if not all are shown. */
  readonly count: number;
}

type Column = string | { readonly title: string; readonly look: 'number' | 'wide' };

function tableSection<Row>(
  actions: RunActions,
  head: Omit<SectionHead, 'count'>,
  columns: readonly Column[],
  items: readonly Row[],
  row: (item: Row) => TemplateResult,
): TemplateResult {
  return section(
    actions,
    { ...head, count: items.length },
    html`<table>
      <thead>
        <tr>
          ${columns.map((column) =>
            typeof column === 'string'
              ? html`<th>${column}</th>`
              : html`<th class=${column.look}>${column.title}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows(head.name, items, actions, row)}
      </tbody>
    </table>`,
  );
}

function section(
  actions: RunActions,
  { name, title, note = '', count }: SectionHead,
  body: TemplateResult,
): TemplateResult {
  const hidden = count - actions.rowsOf(name);
  return html`<section aria-labelledby="title-${name}">
    <h2 id="title-${name}">${title}</h2>
    ${note === '' ? nothing : html`<p>${note}</p>`} ${count === 0 ? nothing : body}
    ${
      hidden <= 0
        ? nothing
        : html`<button type="button" class="link" @click=${() => actions.more(name)}>
            Show more (${hidden} hidden)
          </button>`
    }
  </section>`;
}
