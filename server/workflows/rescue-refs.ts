// Rescue refs are written down at the task whose work they hold, so that a person finds them there: also when that work
// was still in a slot that another task has taken, or that was pruned.

import type { Store, Tx } from '../store/port.ts';

const rescueRoot = 'refs/drover/rescue/';

/** `otherwise`: the task that gets a ref whose name holds no task. */
export async function nameRescueRefs(
  tx: Tx,
  store: Store,
  refs: readonly string[],
  otherwise: string | null,
): Promise<void> {
  for (const ref of refs) {
    const row =
      (await readRefs(tx, taskInName(ref))) ??
      (otherwise === null ? undefined : await readRefs(tx, otherwise));
    if (row === undefined) continue;
    const known = JSON.parse(row.rescue_refs) as string[];
    if (known.includes(ref)) continue;
    await tx
      .updateTable('tasks')
      .set({ rescue_refs: JSON.stringify([...known, ref]) })
      .where('id', '=', row.id)
      .execute();
    await store.append(tx, { type: 'work.kept', taskId: row.id, data: { ref } });
  }
}

/** `refs/drover/rescue/<task>/<attempt>/<commit>` */
function taskInName(ref: string): string {
  return ref.startsWith(rescueRoot) ? (ref.slice(rescueRoot.length).split('/', 1)[0] ?? '') : '';
}

async function readRefs(
  tx: Tx,
  id: string,
): Promise<{ id: string; rescue_refs: string } | undefined> {
  return tx
    .selectFrom('tasks')
    .select(['id', 'rescue_refs'])
    .where('id', '=', id)
    .executeTakeFirst();
}
