// The commands worker and machines, for several machines that run the tasks of one project.

import type { SettingKey } from '../../core/settings/settings.ts';
import type { WorkerNote } from '../../protocol/worker-notes.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { machineTable } from '../render/machine-table.ts';
import { createPaint } from '../render/style.ts';
import { workerLine } from '../render/worker-line.ts';

export interface WorkerCommandOptions {
  readonly agents?: number;
  readonly label?: readonly string[];
  readonly name?: string;
  /** Milliseconds. */
  readonly drainTimeout?: number;
}

export async function worker(
  context: CommandContext,
  options: WorkerCommandOptions,
): Promise<number> {
  const root = await context.root();
  const { runWorker } = await context.surroundings.loadBackends();
  let code: number = exitCodes.done;
  const tell = (note: WorkerNote): void => {
    if (note.type === 'over' && note.given_back.length > 0) code = exitCodes.left;
    if (context.json) context.printJson(note);
    else if (note.type === 'trouble' || note.type === 'warning')
      context.tell(plainLine(workerLine(note)));
    else context.say(plainLine(workerLine(note)));
  };
  const { env } = context.surroundings;
  await runWorker({
    root,
    env,
    flags: settingsOf(options),
    drainMaxMs: options.drainTimeout ?? null,
    tell,
  });
  return code;
}

/** Keyed by the settings' names in `.drover.toml`. */
function settingsOf(options: WorkerCommandOptions): Partial<Record<SettingKey, unknown>> {
  return {
    ...(options.agents !== undefined && { 'fleet.agents': options.agents }),
    ...(options.label !== undefined && { 'fleet.labels': options.label }),
    ...(options.name !== undefined && { 'fleet.name': options.name }),
  };
}

const pipeWidth = 400;

export async function machines(
  context: CommandContext,
  options: { readonly all?: boolean },
): Promise<number> {
  const client = await context.client('data');
  const list = await client.call('machines.list', options.all === true ? { all: true } : {});
  const { stdout } = context.surroundings;
  const width = stdout.isTTY ? stdout.columns : pipeWidth;
  const text =
    list.length === 0
      ? 'No machine has joined: this project runs on one machine. "drover worker" makes it a fleet.'
      : machineTable(list, { width, paint: createPaint(context.color) }).join('\n');
  context.answer(list, text);
  return exitCodes.done;
}

export async function fleetPrepare(context: CommandContext): Promise<number> {
  const root = await context.root();
  const { prepareFleet } = await context.surroundings.loadBackends();
  const prepared = await prepareFleet({ root, env: context.surroundings.env });
  context.answer(
    prepared,
    `${prepared.database}: the tables match this release. Next: drover fleet grant <role>`,
  );
  return exitCodes.done;
}

export async function fleetGrant(
  context: CommandContext,
  role: string,
  options: { readonly sql?: boolean },
): Promise<number> {
  const root = await context.root();
  const { grantFleet } = await context.surroundings.loadBackends();
  const execute = options.sql !== true;
  const { env } = context.surroundings;
  const granted = await grantFleet({ root, env, role, execute });
  const text = execute
    ? `${granted.database}: the role "${role}" can run a worker.`
    : granted.statements.map((statement) => `${statement};`).join('\n');
  context.answer(granted, text);
  return exitCodes.done;
}
