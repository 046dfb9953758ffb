// machines drain and fleet release: orders to a machine of the fleet from any other one.

import { setTimeout as delay } from 'node:timers/promises';
import { formatCount } from '../../core/format.ts';
import type { DrainAnswer, MachineView } from '../../protocol/views.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export interface DrainOptions {
  readonly wait?: boolean;
  readonly now?: boolean;
}

type Client = Awaited<ReturnType<CommandContext['client']>>;

const lookEveryMs = 500;
/** A machine reads orders with its heartbeats, at least every 100 s (10m / 6). */
const heardMaxMs = 120_000;
const releasedMaxMs = 60_000;
/** A backend that is not a worker keeps running while clients are connected. */
const idleMaxMs = 10_000;

export async function drainMachine(
  context: CommandContext,
  name: string,
  options: DrainOptions,
): Promise<number> {
  const client = await context.client('data');
  const now = options.now === true;
  const asked = await client.call('machines.drain', { machine: name, ...(now && { now }) });
  if (options.wait === true) return waitUntilDrained(context, client, asked);
  const isHeard = (view: MachineView | null): boolean =>
    view === null || view.state !== 'working' || asked.was_draining;
  const { found, view } = await lookUntil(client, asked.id, isHeard, heardMaxMs);
  const words = found
    ? drainWords(asked, view, now)
    : `${asked.name} has not responded to the request.`;
  context.answer({ ...asked, state: view?.state ?? 'left' }, plainLine(words));
  return found ? exitCodes.done : exitCodes.left;
}

async function waitUntilDrained(
  context: CommandContext,
  client: Client,
  asked: DrainAnswer,
): Promise<number> {
  let idleSinceMs: number | null = null;
  const isOver = (view: MachineView | null): boolean => {
    if (view?.state !== 'draining') return view?.state !== 'working';
    if (view.agents > 0) idleSinceMs = null;
    else idleSinceMs ??= Date.now();
    return idleSinceMs !== null && Date.now() - idleSinceMs > idleMaxMs;
  };
  const { view } = await lookUntil(client, asked.id, isOver, Infinity);
  const state = view?.state ?? 'left';
  const words =
    state === 'draining'
      ? `${asked.name} runs no task and takes no new ones. Its backend stops when its last client disconnects.`
      : state === 'dead'
        ? `${asked.name} died while it drained: other machines take its tasks.`
        : `${asked.name} has left the fleet.`;
  context.answer({ ...asked, state }, plainLine(`${words}${lastWords(asked)}`));
  return state === 'dead' ? exitCodes.left : exitCodes.done;
}

function drainWords(asked: DrainAnswer, view: MachineView | null, isNow: boolean): string {
  const { name, was_draining: wasDraining } = asked;
  if (view === null || view.state === 'left')
    return `${name} has left the fleet.${lastWords(asked)}`;
  if (view.state === 'dead') return `${name} died: other machines take its tasks.`;
  const tasks = formatCount(view.agents, 'task');
  const runs = `${tasks} still ${view.agents === 1 ? 'runs' : 'run'} there`;
  if (isNow) return `${name} drains and releases its tasks (${runs}).${lastWords(asked)}`;
  const state = wasDraining ? 'is draining already' : 'drains and takes no new work';
  const advice = view.agents === 0 ? '' : ' --wait waits for the end, --now releases them.';
  return `${name} ${state}; ${runs}.${advice}${lastWords(asked)}`;
}

function lastWords({ is_last: isLast }: DrainAnswer): string {
  return isLast
    ? ' No other machine takes tasks: they wait until "drover worker" starts on one.'
    : '';
}

async function lookUntil(
  client: Client,
  id: string,
  isDone: (view: MachineView | null) => boolean,
  maxMs: number,
): Promise<{ readonly found: boolean; readonly view: MachineView | null }> {
  const endMs = Date.now() + maxMs;
  for (;;) {
    const view = (await client.call('machines.list', {})).find((one) => one.id === id) ?? null;
    if (isDone(view)) return { found: true, view };
    if (Date.now() >= endMs) return { found: false, view };
    await delay(lookEveryMs);
  }
}

export async function releaseLine(context: CommandContext, branch: string): Promise<number> {
  const client = await context.client('data');
  const asked = await client.call('line.release', { line: branch });
  const lander = async (): Promise<MachineView | null> => {
    const machines = await client.call('machines.list', {});
    const isLanding = (view: MachineView): boolean =>
      view.landing?.some((one) => one.branch === branch) === true;
    return machines.find(isLanding) ?? null;
  };
  const endMs = Date.now() + releasedMaxMs;
  let next = await lander();
  while (next?.id === asked.id && Date.now() < endMs) {
    await delay(lookEveryMs);
    next = await lander();
  }
  const isReleased = next?.id !== asked.id;
  const words = isReleased
    ? `${asked.name} has released ${branch}${next === null ? '; another machine lands next' : `, and ${next.name} lands now`}.`
    : `${asked.name} has not released ${branch} yet. "drover machines drain ${asked.name} --now" has it release everything.`;
  context.answer({ ...asked, released: isReleased, next: next?.name ?? null }, plainLine(words));
  return isReleased ? exitCodes.done : exitCodes.left;
}
