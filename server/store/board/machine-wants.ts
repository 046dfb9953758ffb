// Finds labels that open tasks require but no machine of the fleet has.

import { whyNoLander } from '../../core/work/landers.ts';
import { type MachineFacts, neededLabels, suits, whyNoMachine } from '../../core/work/machines.ts';
import { readMachines } from '../fleet/machine-views.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import { shortList } from './stuck.ts';

/**
 * Maximum number of tasks to check. A plan with more missing labels is reported well enough by
 * these.
 */
const tasksMax = 1_000;

/** One sentence per missing label, with the remedy. Empty without a fleet. */
export async function unmetWants(
  db: Db,
  epicId: string | null,
  gateNeeds: readonly string[],
): Promise<readonly string[]> {
  const views = await readMachines(db, 0);
  if (views.length === 0) return [];
  // Running work frees capacity eventually.
  const machines = views.map((view): MachineFacts => {
    return { ...view, busy: 0, room: view.agents_max, note: null };
  });
  const general = whyNoMachine([], machines);
  if (general !== null) return [general];
  const noGate = whyNoLander(
    gateNeeds,
    // A machine that is full or offline now can run gates later.
    machines.map((machine) => ({ ...machine, lands: suits(machine.labels, gateNeeds) })),
  );
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'labels'])
    .where('status', 'in', ['ready', 'blocked', 'waiting'])
    .where('parent_id', 'is', null)
    .where('labels', 'like', '%"needs:%')
    .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
    .orderBy('position')
    .limit(tasksMax)
    .execute();
  const wants = new Map<string, { readonly ids: string[]; readonly reason: string | null }>();
  for (const { id, labels } of rows) {
    const list = textList(labels);
    const name = neededLabels(list).toSorted().join(',');
    const known = wants.get(name);
    if (known === undefined) wants.set(name, { ids: [id], reason: whyNoMachine(list, machines) });
    else known.ids.push(id);
  }
  const unmet = [...wants.values()].flatMap(({ ids, reason }) =>
    reason === null ? [] : [`${shortList(ids)}: ${reason}`],
  );
  return noGate === null ? unmet : [noGate, ...unmet];
}
