// run and resume: start, follow to the end, judge.

import type { Client, Params, RunStarted, RunView } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes, judgeRun } from '../exit-codes.ts';
import { followRun } from '../follow-run.ts';
import { plainLine } from '../plain-text.ts';
import { oneLine } from '../render/summary.ts';

export interface RunCommandOptions {
  readonly workers?: number;
  readonly epic?: string;
  readonly target?: string;
  readonly gate?: string;
  readonly land?: 'task' | 'epic' | 'review';
  readonly detach?: boolean;
}

export async function run(context: CommandContext, options: RunCommandOptions): Promise<number> {
  const { detach, ...given } = options;
  const client = await context.client('engine', { ...given });
  const params: Params<'run.start'> = { ...given, env: textsOf(context.surroundings.env) };
  const started = await client.call('run.start', params);
  return await goOn(context, client, started, detach === true);
}

export async function resume(
  context: CommandContext,
  { detach }: { readonly detach?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const env = textsOf(context.surroundings.env);
  const started = await client.call('run.resume', { env });
  if (started.run === null) {
    context.answer(started, plainLine(started.message));
    return exitCodes.done;
  }
  return await goOn(context, client, started, detach === true);
}

async function goOn(
  context: CommandContext,
  client: Client,
  started: RunStarted,
  detach: boolean,
): Promise<number> {
  for (const warning of started.warnings) context.tell(`warning: ${plainLine(warning)}`);
  if (started.message !== '') context.tell(plainLine(started.message));
  if (detach) {
    const { run: view, joined, message, warnings } = started;
    const text = `Run ${view.id} goes on in the background; look with "drover status --watch".`;
    context.answer({ run: view, joined, message, warnings }, text);
    return exitCodes.done;
  }
  const end = await followRun(context, client, started);
  const code = await judge(context, end.client, started.run, end.interrupted);
  if (end.interrupted) context.tell('The run is stopped; go on with: drover resume');
  return code;
}

async function judge(
  context: CommandContext,
  client: Client,
  view: RunView,
  interrupted: boolean,
): Promise<number> {
  if (interrupted) return exitCodes.interrupted;
  const scope = view.epic_id === null ? {} : { epic: view.epic_id };
  const snapshot = await client.call('status', scope);
  context.say(oneLine(snapshot));
  const { tasks, epics } = snapshot;
  return judgeRun({ tasks, epics, land: view.land, interrupted });
}

function textsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) texts[name] = value;
  return texts;
}
