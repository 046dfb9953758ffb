// Tasks that say they are owned while no workflow owns them: given back, so that every item has an owner or a wake-up time.

import { setAttempt, type Tx } from '../store/port.ts';
import { executeWorkflowId } from './execute-task.ts';
import type { Engine } from './parts.ts';

/** Gives back claimed and running tasks whose workflow has ended or never was; resolves with their ids. */
export async function returnOrphans(engine: Engine): Promise<readonly string[]> {
  const rows = await engine.store.db
    .selectFrom('tasks')
    .select(['id', 'epoch', 'phase'])
    .where('status', 'in', ['claimed', 'in_progress'])
    .where('parent_id', 'is', null)
    .execute();
  const returned: string[] = [];
  for (const row of rows) {
    if (await hasOwner(engine, row)) continue;
    const gone = await engine.store.transaction((tx) => giveBack(engine, tx, row));
    if (gone) returned.push(row.id);
  }
  return returned;
}

async function hasOwner(engine: Engine, row: { id: string; epoch: number }): Promise<boolean> {
  const ids = [
    executeWorkflowId({ taskId: row.id, epoch: row.epoch } as Parameters<
      typeof executeWorkflowId
    >[0]),
    `land/${row.id}/${row.epoch}`,
  ];
  const landing = await engine.store.db
    .selectFrom('landings')
    .select(['workflow_id', 'state'])
    .where('task_id', '=', row.id)
    .where('epoch', '=', row.epoch)
    .executeTakeFirst();
  if (landing?.workflow_id !== null && landing?.workflow_id !== undefined)
    ids.push(landing.workflow_id);
  for (const id of ids) {
    const info = await engine.durable.get(id);
    if (info !== null && (info.state === 'pending' || info.state === 'running')) return true;
  }
  return false;
}

async function giveBack(
  engine: Engine,
  tx: Tx,
  row: { id: string; epoch: number },
): Promise<boolean> {
  const attempt = await tx
    .selectFrom('attempts')
    .select('number')
    .where('task_id', '=', row.id)
    .where('epoch', '=', row.epoch)
    .executeTakeFirst();
  if (attempt !== undefined) await setAttempt(tx, row.id, attempt.number, { state: 'interrupted' });
  const outcome = await engine.store.transition(tx, {
    taskId: row.id,
    epoch: row.epoch,
    to: 'ready',
    event: 'task.returned',
    data: { reason: 'its owner is gone' },
    set: {
      phase: null,
      claimed_by: null,
      claimed_at: null,
      stop_requested: null,
      stop_reason: null,
    },
  });
  return outcome.ok;
}
