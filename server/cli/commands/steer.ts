// A user's decisions about a task: pause, cancel, retry, answer, approve and so on.

import { Refusal } from '../../core/failure.ts';
import { describeWrongState } from '../../core/work/wrong-state.ts';
import type { Client, EpicView, TaskView } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { tellNextRun } from './next-run.ts';
import { readTextInput, taskSentence } from './plan.ts';
import { undoEnd } from '../../protocol/undo-end.ts';
import type { UndoView } from '../../protocol/run-views.ts';

const waitMaxMs = 15_000;
const lookEveryMs = 200;

export async function pause(
  context: CommandContext,
  id: string,
  { until }: { readonly until?: string } = {},
): Promise<number> {
  const client = await context.client('engine');
  if (until !== undefined) {
    const task = await client.call('task.pause', { id, until });
    return await untilReal(context, client, task, 'waiting', (now) => now.status === 'blocked');
  }
  const task = await client.call('task.pause', { id });
  return await untilReal(context, client, task, 'paused', (now) => now.status === 'paused');
}

export async function unpause(
  context: CommandContext,
  id: string,
  { hint: text }: { readonly hint?: string },
): Promise<number> {
  const client = await context.client('engine');
  const task = await client.call('task.unpause', { id, ...(text !== undefined && { hint: text }) });
  const code = await untilReal(context, client, task, 'going on', (now) => now.status !== 'paused');
  await tellNextRun(context, client, id);
  return code;
}

export async function cancel(
  context: CommandContext,
  id: string,
  { reason }: { readonly reason?: string },
): Promise<number> {
  const client = await context.client('engine');
  const task = await client.call('task.cancel', { id, ...(reason !== undefined && { reason }) });
  const code = await untilReal(
    context,
    client,
    task,
    'cancelled',
    (now) => now.status === 'cancelled',
  );
  await tellNextRun(context, client, id);
  return code;
}

export async function retry(
  context: CommandContext,
  id: string,
  { force }: { readonly force?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const task = await client.call('task.retry', { id, force: force === true });
  const before = new Set(['failed', 'cancelled', 'conflict']);
  const code = await untilReal(context, client, task, 'retried', (now) => !before.has(now.status));
  await tellNextRun(context, client, id);
  return code;
}

export async function restore(
  context: CommandContext,
  id: string,
  { snapshot }: { readonly snapshot?: number },
): Promise<number> {
  const client = await context.client('engine');
  const given = snapshot === undefined ? {} : { snapshot };
  const done = await client.call('task.restore', { id, ...given });
  const text = `The next attempt of ${id} starts from snapshot ${done.snapshot}. Run \`drover run\`.`;
  context.answer(done, text);
  return exitCodes.done;
}

export async function hint(context: CommandContext, id: string, text: string): Promise<number> {
  const client = await context.client('engine');
  const task = await client.call('task.hint', { id, text });
  if (task.hint_reaches !== undefined) context.tell(hintSentence(task, task.hint_reaches));
  return done(context, task);
}

function hintSentence({ id, phase }: TaskView, reaches: 'now' | 'next_prompt'): string {
  if (reaches === 'now') return `The agent of ${id} gets the hint now.`;
  return phase === 'agent'
    ? `The agent of ${id} takes no messages while it runs. The hint will be in its next prompt: of a further attempt, or of the next sub-task.`
    : `The hint will be in the next prompt of ${id}.`;
}

export async function answer(context: CommandContext, id: string, choice: string): Promise<number> {
  const client = await context.client('engine');
  // Choosing a candidate lands it at once.
  const answered = await client.call('answer', { id, choice });
  const task = await untilTaskLanded(context, client, answered);
  await tellNextRun(context, client, task.id);
  return done(context, task);
}

export async function resolveTask(
  context: CommandContext,
  id: string,
  { note, anyway = false }: { readonly note?: string; readonly anyway?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const before = await client.call('task.show', { id }).catch(() => null);
  const request = { id, ...(note !== undefined && { note }), ...(anyway && { anyway }) };
  const resolved = await client.call('task.resolve', request);
  if (before?.status === 'conflict') context.tell(mergeLine(before));
  await tellNextRun(context, client, id);
  return done(context, resolved);
}

export async function approve(
  context: CommandContext,
  id: string,
  { planFile, withIgnored }: { readonly planFile?: string; readonly withIgnored?: boolean },
): Promise<number> {
  const plan = planFile === undefined ? undefined : await readTextInput(context, planFile, 'plan');
  const client = await context.client('engine');
  const { seq } = await client.call('events.read', { limit: 1 });
  const landing = await landingLine(client, id);
  const item = await client.call('approve', {
    id,
    ...(plan !== undefined && { plan }),
    ...(withIgnored === true && { with_ignored: true }),
  });
  if (landing !== null) context.tell(landing);
  // An approved candidate lands as its task.
  const of = 'epic_id' in item ? item.candidate_of : null;
  if (of !== null)
    await untilTaskLanded(context, client, await client.call('task.show', { id: of }));
  const landed =
    'epic_id' in item
      ? await untilTaskLanded(context, client, item)
      : await untilEpicEnded(context, client, item, seq);
  await tellNextRun(context, client, id);
  context.answer(landed, [itemSentence(landed), ...landedSentences(landed)].join('\n'));
  return exitCodes.done;
}

function landedSentences(item: TaskView | EpicView): readonly string[] {
  const isLanded =
    'epic_id' in item ? item.status === 'completed' : item.landing_state === 'landed';
  if (!isLanded || item.landed_sha === null) return [];
  const line = 'epic_id' in item ? ` on ${plainLine(item.landed_on ?? '')}` : '';
  return [`Landed${line} as ${item.landed_sha.slice(0, 10)}.`];
}

function mergeLine({ id, conflict_files: files }: TaskView): string {
  const what = files.map(plainLine).join(', ') || 'its work';
  return `The next attempt of ${id} merges ${what} with the landed work. It cannot land while a conflict is unresolved.`;
}

/** Maximum number of file names in the line about a landing. */
const landingFilesMax = 5;

/** Returns null if the review has no commit to land: a plan, or an attempt without changes. */
async function landingLine(client: Client, id: string): Promise<string | null> {
  const change = await client.call('change', { id }).catch(() => null);
  if (change?.state !== 'review' || change.size === null || change.files.length === 0) return null;
  const { size, files } = change;
  const named = files.slice(0, landingFilesMax).map(({ path }) => plainLine(path));
  const more = files.length - named.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `Landing +${size.insertions} −${size.deletions}: ${named.join(', ')}${rest}`;
}

/**
 * Approved work lands automatically. The command waits for that only briefly, because a gate may
 * take longer than a user wants to wait.
 */
async function untilTaskLanded(
  context: CommandContext,
  client: Client,
  answered: TaskView,
): Promise<TaskView> {
  const { nowMs, sleep } = context.surroundings;
  const endMs = nowMs() + waitMaxMs;
  const isLanding = (task: TaskView): boolean =>
    task.phase === 'land' && ['needs_review', 'in_progress'].includes(task.status);
  let task = answered;
  while (isLanding(task) && nowMs() < endMs) {
    await sleep(lookEveryMs);
    task = await client.call('task.show', { id: task.id });
  }
  if (isLanding(task)) context.tell(`${task.id} is approved and about to land.`);
  return task;
}

async function untilEpicEnded(
  context: CommandContext,
  client: Client,
  answered: EpicView,
  seq: number,
): Promise<EpicView> {
  const { nowMs, sleep } = context.surroundings;
  const endMs = nowMs() + waitMaxMs;
  for (let after = seq; nowMs() < endMs;) {
    const page = await client.call('events.read', { after });
    const ours = page.events.filter((event) => event.epic_id === answered.id);
    const end = ours.find(({ type }) => /^epic\.(?!approved)/u.test(type));
    if (end !== undefined) {
      const { reason } = end.data;
      if (typeof reason === 'string') context.tell(`${answered.id}: ${plainLine(reason)}`);
      return await client.call('epic.show', { id: answered.id });
    }
    after = page.events.at(-1)?.seq ?? after;
    await sleep(lookEveryMs);
  }
  context.tell(`${answered.id} is approved and about to land.`);
  return answered;
}

/** Takes as long as its gate. Ctrl-C stops waiting, not the undo. */
export async function undo(
  context: CommandContext,
  id: string,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const planned = await client.call('undo', { id, dry_run: true });
  for (const line of undoLines(planned)) context.say(line);
  if (dryRun === true) {
    context.answer(planned, 'Nothing was changed (--dry-run).');
    return exitCodes.done;
  }
  // In an agent's shell, the request is not the user's.
  const { DROVER_TASK_ID: agentOf } = context.surroundings.env;
  const by = agentOf === undefined ? {} : { by: `agent of ${agentOf}` };
  const started = await client.call('undo', { id, ...by });
  if (started.state === 'running') await untilUndone(context, client, started);
  if (started.pull_requests.length > 0) {
    const text = `The revert of ${id} passed its gate and goes to the forge as a pull request: "drover pr ${id}". When it is merged, the tasks are paused.`;
    context.answer({ ...started, state: 'sent' }, plainLine(text));
    return exitCodes.done;
  }
  const [task = '<id>', ...others] = started.tasks;
  const paused =
    others.length === 0
      ? `${task} is paused: "drover resume-task ${task}"`
      : 'Its tasks are paused: "drover resume-task <id>"';
  const text = `${id} is undone on ${started.line}. ${paused} lets an agent redo the work.`;
  context.answer({ ...started, state: 'undone' }, plainLine(text));
  return exitCodes.done;
}

function undoLines({ id, reverts, dependents, line, pull_requests: pulls }: UndoView): string[] {
  const commits = reverts.map((sha) => sha.slice(0, 12)).join(', ');
  const depends =
    dependents.length === 0
      ? `No task depends on ${id}.`
      : `Depends on ${id}, and stays unchanged: ${dependents.join(', ')}.`;
  const names = pulls.map((number) => `PR #${number}`).join(' and ');
  const merged = pulls.length === 0 ? '' : `, as ${names} merged it, by a pull request`;
  return [plainLine(depends), plainLine(`Reverts on ${line}: ${commits}${merged}.`)];
}

async function untilUndone(
  context: CommandContext,
  client: Client,
  { id, workflow, after: start }: UndoView,
): Promise<void> {
  context.tell(`Waiting for the gate of the undo of ${id}.`);
  for (let after = start; ;) {
    const page = await client.call('events.read', { after });
    const end = undoEnd(page.events, workflow);
    if (end?.kind === 'failed')
      throw new Refusal('not_undone', end.reason ?? `${id} stays unchanged`);
    if (end !== null) return;
    after = page.events.at(-1)?.seq ?? after;
    await context.surroundings.sleep(lookEveryMs);
  }
}

export async function sendBack(context: CommandContext, id: string, text: string): Promise<number> {
  const client = await context.client('engine');
  const item = await client.call('task.send_back', { id, text });
  await tellNextRun(context, client, id);
  return done(context, item);
}

export interface ResetOptions {
  readonly completed?: boolean;
  readonly failed?: boolean;
  readonly claimed?: boolean;
  readonly inProgress?: boolean;
}

export async function reset(
  context: CommandContext,
  ids: readonly string[],
  options: ResetOptions,
): Promise<number> {
  const client = await context.client('engine');
  const result = await client.call('reset', {
    ...(ids.length > 0 && { ids }),
    completed: options.completed === true,
    failed: options.failed === true,
    claimed: options.claimed === true,
    in_progress: options.inProgress === true,
  });
  for (const { id, reason } of result.refused) context.tell(`${id}: ${plainLine(reason)}`);
  if (result.reset.length === 0 && result.refused.length > 0) {
    const [first] = result.refused;
    throw new Refusal('reset', `Nothing was reset: ${first?.id ?? ''}: ${first?.reason ?? ''}`);
  }
  // For one task, prints its view, as other commands do. The lists are separate.
  const [only] = ids;
  const task = ids.length === 1 && only ? await client.call('task.show', { id: only }) : {};
  const text =
    result.reset.length === 0 ? 'Nothing to reset.' : `Reset: ${result.reset.join(', ')}.`;
  context.answer({ ...task, ...result }, text);
  return result.refused.length > 0 ? exitCodes.failed : exitCodes.done;
}

function done(context: CommandContext, item: TaskView | EpicView): number {
  context.answer(item, itemSentence(item));
  return exitCodes.done;
}

function itemSentence(item: TaskView | EpicView): string {
  return 'epic_id' in item ? taskSentence(item) : `${item.id}  ${plainLine(item.title)}`;
}

/**
 * Waits until the change has taken effect: the agent's processes have ended and the row shows it.
 */
async function untilReal(
  context: CommandContext,
  client: Client,
  answered: TaskView,
  word: string,
  isReal: (task: TaskView) => boolean,
): Promise<number> {
  const { nowMs, sleep } = context.surroundings;
  const endMs = nowMs() + waitMaxMs;
  let task = answered;
  while (!isReal(task) && nowMs() < endMs) {
    await sleep(lookEveryMs);
    task = await client.call('task.show', { id: task.id });
  }
  if (isReal(task)) return done(context, task);
  context.answer(task, taskSentence(task));
  context.tell(
    `drover: ${task.id} is still ${task.status} after ${waitMaxMs / 1000} s, not yet ${word}; ` +
      `"drover why ${task.id}" gives details.`,
  );
  return exitCodes.failed;
}

export async function followTarget(
  context: CommandContext,
  branch: string | undefined,
  { leaveOut = false }: { readonly leaveOut?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const done = await client.call('target.follow', {
    ...(branch !== undefined && { branch }),
    ...(leaveOut && { leave_out: true }),
  });
  const states = done.wrong.map((state) => describeWrongState(done.branch, state));
  const words = [...(done.reason === null ? [] : [done.reason]), ...states];
  const isDone = done.pending === 0 && states.length === 0;
  context.answer(
    done,
    isDone ? `${done.branch} contains all landed work.` : words.map(plainLine).join('\n'),
  );
  return isDone ? exitCodes.done : exitCodes.left;
}
