// Releases tasks that are marked as owned although no workflow owns them, so that every task has an
// owner or a wake-up time. A workflow that failed because of a bug or a broken disk uses an
// attempt, so that it cannot repeat forever. A full disk uses none, like other temporary problems.

import { failure } from '../../core/failure.ts';
import { startsAsFullDisk } from '../../core/full-disk.ts';
import type { WorkflowInfo } from '../../durable/port.ts';
import { retryDelayMs } from '../../core/work/retry.ts';
import {
  attemptOfOwner,
  endApprovedLanding,
  endLanding,
  failAttempt,
  forgetLanding,
  goesOnAfter,
  readLanding,
  type LiveMachine,
  liveMachines,
  nameOfMachine,
  ownedTasks,
  releaseSlot,
  setAttempt,
  taskById,
  type Tx,
  noOwner,
  noStop,
} from '../../store/port.ts';
import { executeWorkflowId } from '../attempt/execute-task.ts';
import { endLeftAgent } from '../landing/orphan-commands.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { ownFilesFailure } from '../kit/full-disk.ts';
import { machineOfQueue } from '../kit/placement.ts';
import { lineOfQueue } from '../attempt/submission.ts';

interface OwnedRow {
  readonly id: string;
  readonly epoch: number;
  readonly status: string;
  readonly attempts: number;
}

/** Releases owned tasks whose workflow has ended or never existed. Resolves with their ids. */
export async function returnOrphans(engine: Engine): Promise<readonly string[]> {
  const rows = await ownedTasks(engine.store.db);
  const machines = rows.length === 0 ? [] : await aliveMachines(engine);
  const returned: string[] = [];
  for (const row of rows) {
    const owner = await ownerOf(engine, row, machines);
    if (owner.kind === 'alive') continue;
    if (owner.kind === 'out of reach') await engine.durable.cancel(owner.workflowId);
    const error = owner.kind === 'broken' ? owner.error : null;
    const reason = await reasonOf(engine, owner, machines);
    await endLeftAgent(engine, row.id, row.epoch);
    const done = await engine.store.transaction((tx) =>
      giveBack(engine, tx, row, { error, reason }),
    );
    if (done) returned.push(row.id);
  }
  return returned;
}

/** The reason for the task's history, with the name of the machine that ran the attempt. */
async function reasonOf(
  engine: Uses<'store'>,
  owner: Owner,
  alive: readonly LiveMachine[],
): Promise<string> {
  if (owner.kind !== 'out of reach') return 'its owner stopped';
  if (owner.machine === null) return 'no machine of its version is left to land it';
  const name = await nameOfMachine(engine.store.db, owner.machine);
  const machine = name === null ? 'its machine' : `its machine ${name}`;
  const isUpgraded = alive.some(({ id }) => id === owner.machine);
  return isUpgraded ? `${machine} now runs another version of Drover` : `${machine} stopped`;
}

async function aliveMachines(engine: Uses<'machineId' | 'store'>): Promise<readonly LiveMachine[]> {
  return engine.machineId === '' ? [] : liveMachines(engine.store.db);
}

/**
 * Whether a machine is alive that can continue the workflow: the one that owns its queue, or any
 * machine of its release that lands.
 */
function isInReach(
  engine: Uses<'compatibility' | 'machineId'>,
  info: WorkflowInfo,
  machines: readonly LiveMachine[],
): boolean {
  if (engine.machineId === '') return true;
  const own = machineOfQueue(info.queue);
  // A running workflow is monitored or released by its own process.
  const needsLander = info.state === 'pending' && lineOfQueue(info.queue) !== null;
  const { compatibility: number } = info;
  if (own === null && (number === null || number === engine.compatibility.number)) return true;
  return machines.some(
    ({ id, lands, compatibility }) =>
      (own === null || own === id) &&
      (number === null || number === compatibility) &&
      (lands || !needsLander),
  );
}

type Owner =
  | { readonly kind: 'alive' }
  | { readonly kind: 'gone' }
  /** Only a machine that is dead, has left or ran another release could continue it. */
  | {
      readonly kind: 'out of reach';
      readonly workflowId: string;
      /** Null = any machine that lands. */
      readonly machine: string | null;
    }
  | { readonly kind: 'broken'; readonly error: string };

async function ownerOf(
  engine: Uses<'compatibility' | 'durable' | 'knowsDead' | 'machineId' | 'store'>,
  row: OwnedRow,
  machines: readonly LiveMachine[],
): Promise<Owner> {
  const ids = [executeWorkflowId({ taskId: row.id, epoch: row.epoch })];
  const landing = await readLanding(engine.store.db, { taskId: row.id, epoch: row.epoch });
  if (landing !== null && landing.workflow_id !== null) ids.push(landing.workflow_id);
  let owner: Owner = { kind: 'gone' };
  for (const id of ids) {
    const info = await engine.durable.get(id);
    if (info === null) continue;
    if (info.state === 'pending' || info.state === 'running') {
      if (isInReach(engine, info, machines) || !engine.knowsDead()) return { kind: 'alive' };
      const machine = machineOfQueue(info.queue);
      owner = { kind: 'out of reach', workflowId: id, machine };
    }
    if (info.state === 'failed')
      owner = { kind: 'broken', error: info.error ?? 'no reason was kept' };
  }
  return owner;
}

async function giveBack(
  engine: Uses<'chance' | 'clock' | 'mask' | 'store'>,
  tx: Tx,
  row: OwnedRow,
  { error, reason }: { readonly error: string | null; readonly reason: string },
): Promise<boolean> {
  // Its owner may have finished it since the check.
  const now = await taskById(tx, row.id);
  if (now === null || now.epoch !== row.epoch || now.status !== row.status) return false;
  await endLanding(tx, { taskId: row.id, epoch: row.epoch }, 'withdrawn');
  if (row.status === 'needs_review') return giveBackReview(engine, tx, row, error);
  const attempt = await attemptOfOwner(tx, { taskId: row.id, epoch: row.epoch });
  if (error !== null && attempt !== null) return failBroken(engine, tx, row, attempt, error);
  if (attempt !== null) await setAttempt(tx, row.id, attempt.number, { state: 'interrupted' });
  const outcome = await engine.store.transition(tx, {
    taskId: row.id,
    epoch: row.epoch,
    to: 'ready',
    event: 'task.returned',
    data: { reason: error ?? reason },
    set: { ...noOwner, ...noStop },
  });
  return outcome.ok;
}

/**
 * Makes an approved task reviewable again if its landing workflow is missing, so that it can be
 * approved again.
 */
async function giveBackReview(
  engine: Uses<'store'>,
  tx: Tx,
  row: OwnedRow,
  error: string | null,
): Promise<boolean> {
  await forgetLanding(tx, { taskId: row.id, epoch: row.epoch });
  await endApprovedLanding(tx, row.id, error);
  const data = { reason: error ?? 'its owner stopped' };
  await engine.store.append(tx, { type: 'task.returned', taskId: row.id, data });
  return true;
}

async function failBroken(
  engine: Uses<'chance' | 'clock' | 'mask' | 'store'>,
  tx: Tx,
  row: OwnedRow,
  attempt: { readonly number: number; readonly run_id: string | null },
  error: string,
): Promise<boolean> {
  const { store, clock } = engine;
  const fence = { taskId: row.id, epoch: row.epoch, runId: attempt.run_id };
  if (row.status === 'claimed') {
    await store.transition(tx, { ...fence, to: 'in_progress', event: 'task.started' });
  }
  const said = engine.mask(error);
  const passing = startsAsFullDisk(error) ? ownFilesFailure(said) : null;
  const reason = passing ?? failure('git_failed', `Drover could not finish this attempt: ${said}`);
  const owned = { taskId: row.id, attempt: attempt.number };
  const goesOn = passing === null ? null : await goesOnAfter(tx, owned, passing);
  const ended = await failAttempt(tx, store.sources, {
    ...fence,
    attempt: attempt.number,
    failure: reason,
    retryAtMs: clock.now() + retryDelayMs((goesOn ?? row.attempts) + 1, engine.chance()),
    atEnd: 'failed',
    goesOn: goesOn !== null,
  });
  if (goesOn === null) await releaseSlot(tx, 'task', row.id);
  return ended.ok;
}
