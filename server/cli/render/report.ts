// Formats a report as Markdown and as an HTML page, both from the same sections. Text by agents and
// people is escaped in each.

import {
  formatCost,
  formatCount,
  formatDuration,
  stepText,
  withoutMarkup,
} from '../../core/format.ts';
import { pullTimeWords } from '../../core/forge/pull-waits.ts';
import { outcomeText } from '../../core/plan/outcome-words.ts';
import {
  type Report,
  type ReportTask,
  type ReportWait,
  skippedStageText,
} from '../../core/history/report.ts';
import type { PathStep } from '../../core/history/critical-path.ts';
import type { PeriodKind } from '../../core/history/task-story.ts';
import { plainLine } from '../plain-text.ts';

interface Section {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const periodNames: { readonly [K in PeriodKind]: string } = {
  blocked: 'waiting for a blocker',
  queued: 'waiting for a free slot',
  retry: 'waiting for a retry',
  setup: 'setup',
  agent: 'agent running',
  landing: 'gate and landing',
  quota: 'waiting for quota',
  review: 'waiting for a review',
  question: 'waiting for an answer',
  conflict: 'in conflict',
  paused: 'paused',
};

const waitsShown = 15;

export function reportMarkdown(report: Report): string {
  const lines = [`# ${markdownText(titleOf(report))}`, ''];
  for (const section of sectionsOf(report)) {
    if (section.title !== '') lines.push(`## ${section.title}`, '');
    for (const sentence of section.sentences) lines.push(markdownText(sentence), '');
    if (section.rows.length === 0) continue;
    lines.push(markdownRow(section.head), markdownRow(section.head.map(() => '---')));
    for (const row of section.rows) lines.push(markdownRow(row.map(markdownText)));
    lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

export function reportHtml(report: Report): string {
  const title = htmlText(titleOf(report));
  const parts = sectionsOf(report).map((section) =>
    [
      section.title === '' ? '' : `<h2>${htmlText(section.title)}</h2>`,
      ...section.sentences.map((sentence) => `<p>${htmlText(sentence)}</p>`),
      section.rows.length === 0 ? '' : htmlTable(section),
    ].join('\n'),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color-scheme: light dark; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #8884; padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
</style>
</head>
<body>
<h1>${title}</h1>
${parts.join('\n')}
</body>
</html>
`;
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** The text of a title must not become markup or end a cell. */
function markdownText(text: string): string {
  return plainLine(text).replace(/[\\`*_[\]<>|#]/gu, String.raw`\$&`);
}

function htmlText(text: string): string {
  return withoutMarkup(plainLine(text)).replaceAll('"', '&quot;');
}

function htmlTable({ head, rows }: Section): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${htmlText(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[cells('th', head), ...rows.map((row) => cells('td', row))].join('\n')}\n</table>`;
}

function titleOf({ kind, id, title }: Report): string {
  return kind === 'run' ? `Run ${id}` : `Epic ${title} (${id})`;
}

function sectionsOf(report: Report): readonly Section[] {
  return [
    summary(report),
    landedSection(report.landed),
    leftSection(report.left),
    timeSection(report),
    waitSection(report.waits),
    pathSection(report.critical_path),
    gateSection(report),
    costSection(report),
    retrySection(report),
  ].filter((section) => section.sentences.length > 0 || section.rows.length > 0);
}

function summary(report: Report): Section {
  const { windows, state, counts, cost, duration_ms: ms } = report;
  const first = windows[0];
  const last = windows.at(-1);
  const when =
    first === undefined || last === undefined
      ? 'No run has worked on it.'
      : `From ${timeText(first.started_at_ms)} to ${timeText(last.ended_at_ms)}${windows.length > 1 ? `, in ${windows.length} parts` : ''}: ${formatDuration(ms)}, ${state}.`;
  const figures = `${outcomeText(counts)} · ${formatCost(cost.usd)}.`;
  return { title: '', sentences: [when, figures], head: [], rows: [] };
}

function timeText(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/u, ' UTC');
}

function landedSection(tasks: readonly ReportTask[]): Section {
  return {
    title: 'Landed',
    sentences: tasks.length === 0 ? ['Nothing landed.'] : [],
    head: ['Task', 'Title', 'Commit', 'Branch', 'Attempts', 'Cost'],
    rows: tasks.map((task) => [
      task.id,
      task.title,
      task.sha?.slice(0, 12) ?? 'no commit',
      task.branch ?? '',
      String(task.attempts),
      formatCost(task.usd),
    ]),
  };
}

function leftSection(tasks: readonly ReportTask[]): Section {
  return {
    title: 'Left',
    sentences: [],
    head: ['Task', 'Title', 'State', 'Attempts'],
    rows: tasks.map((task) => [task.id, task.title, task.status, String(task.attempts)]),
  };
}

function timeSection({ time }: Report): Section {
  const kinds = (Object.keys(periodNames) as PeriodKind[]).filter((kind) => time[kind] > 0);
  return {
    title: 'Where the time went',
    sentences: [],
    head: ['All tasks together', 'Time'],
    rows: kinds
      .toSorted((a, b) => time[b] - time[a])
      .map((kind) => [periodNames[kind], formatDuration(time[kind])]),
  };
}

function waitSection(waits: readonly ReportWait[]): Section {
  return {
    title: 'Longest waits',
    sentences: [],
    head: ['Task', 'Wait', 'For', 'Time'],
    rows: waits
      .slice(0, waitsShown)
      .map((wait) => [
        wait.task_id,
        periodNames[wait.kind],
        wait.on.join(', '),
        formatDuration(wait.ms),
      ]),
  };
}

function pathSection(steps: readonly PathStep[]): Section {
  return {
    title: 'Critical path',
    sentences: [],
    head: ['Task', 'Title', 'Started after', 'Took', 'Of which'],
    rows: steps.map((step) => [
      step.task_id,
      step.title,
      step.after === null
        ? ''
        : `${step.after.task_id} ${step.after.kind === 'slot' ? 'freed a slot' : 'landed'}`,
      formatDuration(step.ended_at_ms - step.started_at_ms),
      Object.entries(step.time)
        .map(([kind, ms]) => `${periodNames[kind as PeriodKind]} ${formatDuration(ms)}`)
        .join(', '),
    ]),
  };
}

function gateSection({ gate, landing, forecast, pulls = [] }: Report): Section {
  const flaky = gate.flaky === 0 ? '' : `, ${gate.flaky} flaky`;
  const sentence = `${formatCount(gate.runs, 'run')} of the gate: ${gate.passed} passed, ${gate.failed} failed${flaky}; ${formatDuration(gate.ms)} in all.`;
  const unused = `${formatDuration(gate.unused_ms)} of early gates were not needed.`;
  const share = `A gate ran ${Math.round(landing.gate_share * 100)} % of the time.`;
  const waited = `Finished work waited ${formatDuration(landing.average_ms)} to land on average, ${formatDuration(landing.longest_ms)} at most (gate included).`;
  return {
    title: 'Gate',
    sentences: [
      ...(gate.runs === 0 ? [] : [sentence, share]),
      ...(gate.unused_ms === 0 ? [] : [unused]),
      ...(gate.skipped ?? []).map((skipped) => plainLine(skippedStageText(skipped))),
      ...(landing.count === 0 ? [] : [waited]),
      ...forecastSentences(forecast),
      ...pulls.map(pullTimeWords),
    ],
    head: [],
    rows: [],
  };
}

function forecastSentences(forecast: Report['forecast']): readonly string[] {
  if (forecast === undefined || (forecast.foreseen === 0 && forecast.came === 0)) return [];
  const { foreseen, foreseen_and_came: right, came, came_and_foreseen: known } = forecast;
  return [
    `${formatCount(foreseen, 'conflict')} foreseen, of which ${right} came; ${formatCount(came, 'task')} met a conflict, of which ${known} had been foreseen.`,
  ];
}

function costSection({ cost }: Report): Section {
  return {
    title: 'Cost by model',
    sentences: [],
    head: ['Agent and model', 'Attempts', 'Input tokens', 'Output tokens', 'Cost'],
    rows: cost.by_model.map((model) => [
      stepText(model),
      String(model.attempts),
      String(model.input_tokens),
      String(model.output_tokens),
      formatCost(model.usd),
    ]),
  };
}

function retrySection({ retries }: Report): Section {
  return {
    title: 'Attempts that did not land',
    sentences: [],
    head: ['Task', 'Attempt', 'Cause', 'Error', 'Took'],
    rows: retries.map((retry) => [
      retry.task_id,
      `${retry.attempt}${retry.agent === null ? '' : ` (${retry.agent})`}`,
      retry.cause,
      retry.error ?? '',
      formatDuration(retry.ms),
    ]),
  };
}
