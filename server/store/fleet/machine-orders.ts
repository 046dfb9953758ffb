// A person's orders to a machine of the fleet: to drain, or to release the landing on a branch to
// another machine. The machine reads them from the database.

import { Refusal } from '../../core/failure.ts';
import { formatDuration } from '../../core/format.ts';
import type { DrainAnswer, MachineView, ReleaseAnswer } from '../../protocol/views.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { Tx } from '../schema/tables.ts';
import { readLander } from './line-landers.ts';
import { readMachines } from './machine-views.ts';
import { liveMachines } from './machines.ts';

const idLengthMin = 8;
const namedMax = 10;

export interface DrainRequest {
  readonly machine: string;
  readonly now?: boolean | undefined;
}

export async function orderDrain(
  tx: Tx,
  sources: StoreSources,
  { machine: wanted, now = false }: DrainRequest,
): Promise<DrainAnswer> {
  const { id, name, agents } = await runningMachine(tx, wanted);
  const live = await liveMachines(tx);
  const own = live.find((machine) => machine.id === id);
  const isLast = !live.some(
    (machine) =>
      machine.id !== id &&
      machine.agentsMax > 0 &&
      !machine.isDraining &&
      machine.drainOrder === null,
  );
  const isRepeated = own?.isDraining === true || own?.drainOrder !== null;
  const answer = { id, name, agents, was_draining: isRepeated, is_last: isLast };
  if (isRepeated && (!now || own?.drainOrder === 'release')) return answer;
  await tx
    .updateTable('machines')
    .set({ drain_order: now ? 'release' : 'drain' })
    .where('id', '=', id)
    .execute();
  const data = { machine: name, machine_id: id, now };
  await appendEvent(tx, sources, { type: 'machine.drain_requested', data });
  return answer;
}

async function runningMachine(tx: Tx, wanted: string): Promise<MachineView> {
  const machines = await readMachines(tx, 0, true);
  if (machines.length === 0) {
    throw new Refusal(
      'no_fleet',
      'This project runs on one machine. Run "drover server stop" to stop its backend.',
    );
  }
  const found =
    machines.find(({ name }) => name === wanted) ??
    machines.find(({ id }) => wanted.length >= idLengthMin && id.startsWith(wanted));
  if (found === undefined) {
    const alive = machines.filter(isAlive).map(({ name }) => name);
    const named = alive.slice(0, namedMax).join(', ');
    const running = alive.length === 0 ? 'No machine is running' : `Running machines: ${named}`;
    throw new Refusal('not_found', `No machine is named "${wanted}". ${running}.`);
  }
  if (isAlive(found)) return found;
  const words = found.state === 'dead' ? 'is dead, and its tasks are reassigned' : 'has left';
  throw new Refusal('bad_state', `${found.name} ${words}: there is nothing to drain.`);
}

function isAlive({ state }: MachineView): boolean {
  return state === 'working' || state === 'draining';
}

/**
 * Orders the machine that lands on the branch to release it. Refuses if no other machine could
 * continue.
 */
export async function orderRelease(
  tx: Tx,
  sources: StoreSources,
  branch: string,
): Promise<ReleaseAnswer> {
  const machines = await readMachines(tx, 0, true);
  if (machines.length === 0) {
    throw new Refusal('no_fleet', 'This project runs on one machine, which lands on every branch.');
  }
  const lander = await readLander(tx, branch);
  if (lander === null || lander.ended_ms !== null) {
    const ended = lander?.ended_ms ?? null;
    const last =
      ended === null
        ? ''
        : ` The last landing ended ${formatDuration(sources.clock.now() - ended)} ago.`;
    throw new Refusal(
      'bad_state',
      `No machine is landing on ${branch} now.${last} "drover machines" shows who lands where.`,
    );
  }
  const holder = machines.find(({ id }) => id === lander.machine);
  const name = holder?.name ?? lander.machine;
  if (holder === undefined || !isAlive(holder)) {
    throw new Refusal(
      'bad_state',
      `${name} stopped while it was landing on ${branch}: another machine that can land continues without a command.`,
    );
  }
  if (!machines.some(({ id, lands }) => id !== holder.id && lands)) {
    throw new Refusal(
      'bad_state',
      `No machine but ${name} can land on ${branch} now. "drover machines" shows why; start a worker that can, then repeat the command.`,
    );
  }
  const answer = { branch, id: holder.id, name };
  if (lander.release_order === 1) return answer;
  await tx
    .updateTable('line_landers')
    .set({ release_order: 1 })
    .where('branch', '=', branch)
    .execute();
  const data = { machine: name, machine_id: holder.id, branch };
  await appendEvent(tx, sources, { type: 'machine.release_requested', data });
  return answer;
}

/** A machine that restarts accepts tasks again. */
export async function forgetDrainOrder(tx: Tx, machine: string): Promise<void> {
  await tx
    .updateTable('machines')
    .set({ drain_order: null })
    .where('id', '=', machine)
    .where('drain_order', 'is not', null)
    .execute();
}
