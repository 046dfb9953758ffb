// The commands why, events, log and diff, which only print.

import { listCandidates, candidateWords } from '../../protocol/candidates.ts';
import type { Client, EventView, PlanView, TaskView } from '../../protocol/api.ts';
import { isAboutTask } from '../../protocol/event-tasks.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { taskSentence } from './plan.ts';
import { eventLine } from '../render/event-line.ts';
import { printLog } from '../print-log.ts';
import { followFeed } from '../follow-feed.ts';
import { untilInterrupted } from '../interrupt.ts';

const pageSize = 1000;

export async function show(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const task = await client.call('task.show', { id });
  context.answer(task, [...shownTask(task), ...(await shownCandidates(client, task))].join('\n'));
  return exitCodes.done;
}

async function shownCandidates(client: Client, task: TaskView): Promise<readonly string[]> {
  if (task.candidate_of !== null) return [];
  const { tasks } = await client.call('status', {});
  return listCandidates(tasks, task.id).map((each) => {
    const words = candidateWords(each, task, each.status.replace('_', ' ')) ?? '';
    return `  ${each.id}: ${plainLine(words)}`;
  });
}

const planStates: { readonly [S in PlanView['state']]: string } = {
  proposed: 'waits for you',
  approved: 'approved',
  sent_back: 'sent back',
  dropped: 'no longer applies',
};

function shownTask(task: TaskView): readonly string[] {
  const facts: readonly (readonly [string, string | null])[] = [
    ['epic', task.epic_id],
    ['parent', task.parent_id],
    ['waits for', task.waits_for.join(', ')],
    ['agent', task.agent],
    ['model', task.model],
    ['machine', task.machine],
    ['gate', task.gate],
    ['labels', task.labels.join(', ')],
    ['branch', task.branch],
    ['landed', task.landed_sha],
    ['result', task.verdict_reason === task.last_error ? null : task.verdict_reason],
    ['kept', task.rescue_refs.join(', ')],
    ['last error', task.last_error],
  ];
  const said = facts.flatMap(([name, text]) =>
    text === null || text === '' ? [] : [`  ${name}: ${plainLine(text)}`],
  );
  const description = task.description === '' ? [] : ['', plainText(task.description)];
  return [taskSentence(task), ...said, ...description, ...shownPlan(task)];
}

function shownPlan({ id, status, review_kind: kind, proposal }: TaskView): readonly string[] {
  if (proposal === null) return [];
  const { number, state, comment, text } = proposal;
  const why = comment === null ? [] : [`Sent back with: ${plainText(comment)}`];
  const waits = status === 'needs_review' && kind === 'plan';
  const next = `drover approve ${id}   (or: drover send-back ${id} "…")`;
  const lines = ['', `Plan ${number} (${planStates[state]}):`, ...why, plainText(text)];
  return waits ? [...lines, '', next] : lines;
}

export async function why(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const { reasons } = await client.call('why', { id });
  context.answer({ reasons }, reasons.map(plainLine).join('\n'));
  return exitCodes.done;
}

export async function snapshots(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const listed = await client.call('snapshots', { id });
  const rows = listed.snapshots.map((each) => [
    String(each.number),
    `attempt ${each.attempt}`,
    new Date(each.timestamp * 1000).toISOString().replace('.000Z', 'Z'),
    each.reason,
    each.author,
    counted(each.files, 'file'),
    `+${each.insertions} -${each.deletions}`,
  ]);
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  context.answer(listed, lines.join('\n'));
  if (rows.length === 0) context.tell(`${id} has no snapshot.`);
  return exitCodes.done;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

export async function diff(
  context: CommandContext,
  id: string,
  { snapshot }: { readonly snapshot?: number } = {},
): Promise<number> {
  const client = await context.client('data');
  const change = await client.call('diff', { id, ...(snapshot !== undefined && { snapshot }) });
  const text = context.foreign(change.text).replace(/\n$/u, '');
  context.answer(change, text);
  if (text === '') context.tell(`${id} has no changes compared with its base.`);
  return exitCodes.done;
}

export interface EventsOptions {
  readonly after?: number;
  readonly type?: string;
  readonly task?: string;
  /** A user or a machine. */
  readonly by?: string;
  readonly limit?: number;
  readonly follow?: boolean;
}

export async function events(context: CommandContext, options: EventsOptions): Promise<number> {
  const client = await context.client('data');
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  const print = (batch: readonly EventView[]): void => {
    for (const event of batch) {
      if (left <= 0 || !isWanted(event, options)) continue;
      left -= 1;
      printEvent(context, event);
    }
  };
  if (options.follow !== true) {
    await readEvents(client, options, left, print);
    return exitCodes.done;
  }
  return await untilInterrupted(context, (end) =>
    followFeed(context, client, options.after ?? 0, {
      onEvents: (batch) => {
        print(batch);
        if (left <= 0) end(exitCodes.done);
      },
      onClient: () => {},
      onFailure: end,
    }),
  );
}

function printEvent(context: CommandContext, event: EventView): void {
  if (context.json) context.printJson(event);
  else context.say(eventLine(event));
}

function isWanted(event: EventView, { type, task, by }: EventsOptions): boolean {
  return (
    (by === undefined || isBy(event, by)) &&
    (type === undefined || event.type === type) &&
    (task === undefined || isAboutTask(event, task))
  );
}

function isBy({ data }: EventView, name: string): boolean {
  const actor = Object(data['actor']) as Readonly<Record<string, unknown>>;
  return [actor['person'], actor['machine'], actor['device']].includes(name);
}

async function readEvents(
  client: Client,
  options: EventsOptions,
  wanted: number,
  print: (batch: readonly EventView[]) => void,
): Promise<void> {
  let after = options.after ?? 0;
  let left = wanted;
  while (left > 0) {
    const page = await client.call('events.read', {
      after,
      limit: Math.min(left, pageSize),
      ...(options.type !== undefined && { type: options.type }),
      ...(options.task !== undefined && { task: options.task }),
      ...(options.by !== undefined && { by: options.by }),
    });
    const last = page.events.at(-1);
    if (last === undefined) return;
    print(page.events);
    after = last.seq;
    left -= page.events.length;
  }
}

export interface LogOptions {
  readonly attempt?: number;
  readonly follow?: boolean;
  readonly prompt?: boolean;
}

export async function log(
  context: CommandContext,
  id: string,
  options: LogOptions,
): Promise<number> {
  const client = await context.client('data');
  if (options.prompt === true) {
    const attempt = options.attempt === undefined ? {} : { attempt: options.attempt };
    const told = await client.call('log.prompt', { id, ...attempt });
    context.answer(told, context.foreign(told.prompt).replace(/\n$/u, ''));
    return exitCodes.done;
  }
  if (options.follow !== true) {
    await printLog(context, client, { id, attempt: options.attempt, goesOn: () => false });
    return exitCodes.done;
  }
  return await untilInterrupted(context, async (end) => {
    let isOver = false;
    const goesOn = (): boolean => !isOver;
    const print = printLog(context, client, { id, attempt: options.attempt, goesOn });
    print.then(
      () => end(exitCodes.done),
      (error: unknown) => end(error instanceof Error ? error : new Error(String(error))),
    );
    return () => {
      isOver = true;
    };
  });
}
