// run and resume: start a run, follow it to its end and compute the exit code.

import { realpathSync } from 'node:fs';
import type { SettingKey } from '../../core/settings/settings.ts';
import type {
  Answer,
  Client,
  EventView,
  Params,
  RunView,
  StatusSnapshot,
} from '../../protocol/api.ts';
import type { RunOptions } from '../../protocol/requests/runs.ts';
import { BackendGone } from '../../rpc/transport/errors.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes, judgeRun } from '../exit-codes.ts';
import { followRun, type RunEnd } from '../follow-run.ts';
import { InterruptWatch } from '../interrupt.ts';
import { describeWrongState } from '../../core/work/wrong-state.ts';
import { plainLine } from '../plain-text.ts';
import { formatUnfinished } from '../render/left-over.ts';
import { noTasks, formatSummaryLine } from '../render/summary.ts';
import type { RunStarted } from '../../protocol/run-views.ts';

type OptionOfRun = 'workers' | 'epic' | 'target' | 'gate' | 'fallback' | 'land';

export interface RunCommandOptions extends Pick<RunOptions, OptionOfRun> {
  /** An agent kind, or `kind:model`. */
  readonly agent?: string;
  /** Single tasks instead of an epic. */
  readonly task?: RunOptions['tasks'];
  readonly detach?: boolean;
}

export async function run(context: CommandContext, options: RunCommandOptions): Promise<number> {
  const { workers, epic, task, target, gate, fallback, land, detach } = options;
  const client = await context.client('engine', settingsOf(options));
  const params: Params<'run.start'> = {
    ...agentOf(options),
    ...(workers !== undefined && { workers }),
    ...(epic !== undefined && { epic }),
    ...(task !== undefined && { tasks: task }),
    ...(target !== undefined && { target }),
    ...(gate !== undefined && { gate }),
    ...(fallback !== undefined && { fallback }),
    ...(land !== undefined && { land }),
    called_in: realPath(context.directory),
    env: textsOf(context.surroundings.env),
  };
  return await withInterrupts(context, async (interrupts) => {
    const asked = await askUntilAnswered(context, client, 'run.start', params);
    const { client: answering, answer: started } = asked;
    return await goOn(context, answering, started, { epic: epic ?? null, detach, interrupts });
  });
}

function agentOf({ agent }: RunCommandOptions): Pick<RunOptions, 'agent' | 'model'> {
  if (agent === undefined) return {};
  const [kind = '', ...model] = agent.split(':');
  return { agent: kind.trim(), ...(model.length > 0 && { model: model.join(':').trim() }) };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Keyed by their names in `.drover.toml`, so that `status` can show their source. */
function settingsOf(options: RunCommandOptions): Partial<Record<SettingKey, unknown>> {
  const { agent, model } = agentOf(options);
  return {
    ...(agent !== undefined && { 'agent.kind': agent }),
    ...(model !== undefined && { 'agent.model': model }),
    ...(options.workers !== undefined && { max_workers: options.workers }),
    ...(options.gate !== undefined && { 'gate.command': options.gate }),
    ...(options.fallback !== undefined && { 'agent.fallback': options.fallback }),
    ...(options.land !== undefined && { 'land.mode': options.land }),
    ...(options.target !== undefined && { 'land.target': options.target }),
  };
}

export async function resume(
  context: CommandContext,
  { detach }: { readonly detach?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const env = textsOf(context.surroundings.env);
  return await withInterrupts(context, async (interrupts) => {
    const asked = await askUntilAnswered(context, client, 'run.resume', { env });
    const { client: answering, answer: started } = asked;
    if (started.run !== null) {
      return await goOn(context, answering, started, { epic: null, detach, interrupts });
    }
    context.answer(started, plainLine(started.message));
    return exitCodes.done;
  });
}

const askTriesMax = 8;

/**
 * Repeats the request if the backend died before it responded, because the run may have started.
 * The next request then joins it.
 */
async function askUntilAnswered<N extends 'run.start' | 'run.resume'>(
  context: CommandContext,
  first: Client,
  name: N,
  params: Params<N>,
): Promise<{ readonly client: Client; readonly answer: Answer<N> }> {
  let client = first;
  for (let tries = 1; ; tries += 1) {
    try {
      return { client, answer: await client.call(name, params) };
    } catch (error) {
      if (!(error instanceof BackendGone) || tries >= askTriesMax) throw error;
      client.close();
      client = await context.client('engine');
    }
  }
}

/** Called before the run starts, so that Ctrl-C cannot leave it running unwatched. */
async function withInterrupts(
  context: CommandContext,
  body: (interrupts: InterruptWatch) => Promise<number>,
): Promise<number> {
  const interrupts = new InterruptWatch(context.surroundings);
  try {
    return await body(interrupts);
  } finally {
    interrupts.end();
  }
}

interface FollowOptions {
  /** The requested epic. The run may be a larger one that covers it. */
  readonly epic: string | null;
  readonly detach: boolean | undefined;
  readonly interrupts: InterruptWatch;
}

async function goOn(
  context: CommandContext,
  client: Client,
  started: RunStarted,
  request: FollowOptions,
): Promise<number> {
  for (const warning of started.warnings) context.tell(`warning: ${plainLine(warning)}`);
  if (started.message !== '') context.tell(plainLine(started.message));
  if (request.detach === true) {
    const { run: view, joined, message, warnings } = started;
    const text = `Run ${view.id} continues in the background. To watch it, run "drover status --watch".`;
    context.answer({ run: view, joined, message, warnings }, text);
    return exitCodes.done;
  }
  const end = await followRun(context, client, started, request.interrupts);
  if (end.interrupted) context.tell(howItWasLeft(end));
  return await judge(context, end, started.run, request.epic ?? started.run.epic_id);
}

function howItWasLeft({ notStopped }: RunEnd): string {
  if (notStopped === null) return 'The run is stopped. To continue, run: drover resume';
  const reason = notStopped.replace(/\.$/u, '');
  return `The run could not be stopped, and its agents continue (${reason}). To stop them, run: drover server stop --force`;
}

async function judge(
  context: CommandContext,
  { client, interrupted, finished }: RunEnd,
  view: RunView,
  epic: string | null,
): Promise<number> {
  if (interrupted) return exitCodes.interrupted;
  const snapshot = await statusAtEnd(context, client, epic);
  const own = view.tasks === undefined ? null : new Set(view.tasks);
  const tasks = snapshot.tasks.filter(({ id }) => own?.has(id) ?? true);
  for (const line of formatUnfinished(tasks)) context.say(line);
  // The live view has already shown the same text.
  if (!context.surroundings.stdout.isTTY)
    context.say(noTasks(snapshot) ?? formatSummaryLine(snapshot));
  const landed = landedLine(snapshot, view);
  if (landed !== null) context.say(landed);
  const unlandedEpic = view.land !== 'task' && !hasLanded(snapshot, epic, finished);
  tellWhatWaits(context, snapshot, finished);
  tellWorkElsewhere(context, view, finished);
  tellUnusableAgents(context, finished);
  const code = finished?.data['exit_code'];
  // The outcome of another run's tasks does not affect this run's exit code.
  if (typeof code === 'number' && epic === view.epic_id) return code;
  return judgeRun({ tasks, unlandedEpic, interrupted });
}

/** Returns null if the run landed nothing, or if the checkout does not have it yet. */
function landedLine({ target }: StatusSnapshot, { base_sha: base }: RunView): string | null {
  if (target === null || target.sha === null || target.pending > 0 || target.sha === base)
    return null;
  return plainLine(`Landed on ${target.branch ?? ''} · ${target.sha.slice(0, 8)}`);
}

/** Reports landed work that the checkout does not have yet, with its branch and the obstacle. */
function tellWhatWaits(
  context: CommandContext,
  { run: last, target }: StatusSnapshot,
  finished: EventView | null,
): void {
  for (const state of target?.wrong ?? [])
    context.tell(plainLine(describeWrongState(target?.branch ?? '', state)));
  if (target === null || target.pending === 0) return;
  const commits = target.pending === 1 ? '1 commit waits' : `${target.pending} commits wait`;
  const place = last?.result_branch ?? null;
  const where =
    place === null || place === target.branch
      ? ''
      : `; ${place} holds the work that you can merge now`;
  const reason = finished?.data['reason'];
  const why = typeof reason === 'string' ? ` ${plainLine(reason)}` : '';
  context.tell(`${commits} for your checkout of ${target.branch ?? ''}${where}.${why}`);
}

/** Reports completed work that is only on another epic's line. */
function tellWorkElsewhere(
  context: CommandContext,
  view: RunView,
  finished: EventView | null,
): void {
  const elsewhere = finished?.data['elsewhere'];
  if (!Array.isArray(elsewhere)) return;
  for (const { branch, tasks } of elsewhere as { branch: string; tasks: string[] }[]) {
    const names = tasks.slice(0, namesMax).join(', ');
    const more = tasks.length > namesMax ? ` and ${tasks.length - namesMax} more` : '';
    const epic = branch.slice(branch.lastIndexOf('/') + 1);
    // The settings land each task separately, so a run of only that epic has not landed it.
    const how = view.epic_id === epic && view.land === 'task' ? ' --land epic' : '';
    context.tell(
      plainLine(
        `The work of ${names}${more} is only on ${branch}, not on ${view.target_branch}. Run "drover run --epic ${epic}${how}" to land it.`,
      ),
    );
  }
}

/**
 * Reports tasks that are left because their agents cannot start. Their attempts are not used up.
 */
function tellUnusableAgents(context: CommandContext, finished: EventView | null): void {
  const unusable = finished?.data['unusable_agents'];
  if (!Array.isArray(unusable)) return;
  for (const { agent, why } of unusable as { agent: string; why: string }[]) {
    const words = `Agent ${agent}: ${why} Correct this, then run "drover run". No attempt was used.`;
    context.tell(plainLine(words));
  }
}

const namesMax = 10;

/** The run is over. If the backend has exited, the database has the same result. */
async function statusAtEnd(
  context: CommandContext,
  client: Client,
  epic: string | null,
): Promise<StatusSnapshot> {
  const scope = epic === null ? {} : { epic };
  try {
    return await client.call('status', scope);
  } catch (error) {
    if (!(error instanceof BackendGone)) throw error;
    return await (await context.client('data')).call('status', scope);
  }
}

/**
 * The run's own result counts, because an epic without changes has no commit. Without it, the
 * epic's facts do.
 */
function hasLanded(
  snapshot: StatusSnapshot,
  epicId: string | null,
  finished: EventView | null,
): boolean {
  const own = finished?.data['exit_code'];
  if (typeof own === 'number') return own !== exitCodes.left;
  const epic = snapshot.epics.find((each) => each.id === epicId);
  return epic === undefined || epic.counts.completed === 0 || epic.landed_sha !== null;
}

function textsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) texts[name] = value;
  return texts;
}
