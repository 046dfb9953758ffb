// The labels that the open tasks require of a fleet's machines, but none of these offers.

import { whyNoLander } from '../../core/work/landers.ts';
import { type MachineFacts, neededLabels, suits, whyNoMachine } from '../../core/work/machines.ts';
import { readMachines } from '../fleet/machine-views.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import { shortList } from './stuck.ts';

/** Maximum number of tasks to check; a plan with more labels than that gives enough information. */
const tasksMax = 1_000;

/** One sentence each, with the remedy; none without a fleet. */
export async function unmetWants(
  db: Db,
  epicId: string | null,
  gateNeeds: readonly string[],
): Promise<readonly string[]> {
  const views = await readMachines(db, 0);
  if (views.length === 0) return [];
  // Running work frees capacity sooner or later.
  const machines = views.map((view): MachineFacts => {
    return { ...view, busy: 0, room: view.agents_max, note: null };
  });
  const general = whyNoMachine([], machines);
  if (general !== null) return [general];
  const noGate = whyNoLander(
    gateNeeds,
    // One that is full or offline now runs gates later.
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
