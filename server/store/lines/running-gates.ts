// Stores the gates that each line's landing is running, so that people see which candidate is
// tested. Only views read these rows: after a crash they are stale until the line's next gate.

import type { GateView } from '../../protocol/task-fields.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { Db } from '../rows/one-moment.ts';
import type { Tx } from '../schema/tables.ts';

export interface RunningGate {
  /** The tasks of the candidate, in the order in which they land. */
  readonly task_ids: readonly string[];
  readonly since_ms: number;
  /** True if this is the second try of a tree that was red. */
  readonly is_second: boolean;
}

/** Replaces the running gates of the line. `touched`: tasks whose views may have changed. */
export async function noteRunningGates(
  tx: Tx,
  sources: StoreSources,
  line: string,
  running: readonly RunningGate[],
  touched: readonly string[],
): Promise<void> {
  const gates = JSON.stringify(running);
  await tx
    .insertInto('line_gates')
    .values({ line, gates })
    .onConflict((conflict) => conflict.column('line').doUpdateSet({ gates }))
    .execute();
  await appendEvent(tx, sources, {
    type: 'gates.changed',
    data: { branch: line, tasks: touched, gates: running.map(({ task_ids: ids }) => ids) },
  });
}

/**
 * Maps each task to the gate that tests its work. If there are several, it is the one with the
 * smallest candidate.
 */
export async function gateViews(db: Db): Promise<ReadonlyMap<string, GateView>> {
  const lines = await db.selectFrom('line_gates').selectAll().where('gates', '<>', '[]').execute();
  const views = new Map<string, GateView>();
  if (lines.length === 0) return views;
  const rows = await db
    .selectFrom('landings as l')
    .innerJoin('tasks as t', (join) =>
      join.onRef('t.id', '=', 'l.task_id').onRef('t.epoch', '=', 'l.epoch'),
    )
    .select(['l.task_id', 'l.line', 't.title'])
    .where('l.state', 'in', ['queued', 'taken'])
    .where('t.status', 'in', ['in_progress', 'needs_review'])
    .orderBy('l.position')
    .execute();
  const titles = new Map(rows.map(({ task_id: id, title }) => [id, title]));
  for (const { line, gates } of lines) {
    const queue = rows.filter((row) => row.line === line).map(({ task_id: id }) => id);
    const running = (JSON.parse(gates) as readonly RunningGate[])
      .map((gate) => ({ ...gate, task_ids: gate.task_ids.filter((id) => queue.includes(id)) }))
      .toSorted((a, b) => a.task_ids.length - b.task_ids.length);
    const first = running.find(({ is_second: second }) => !second);
    for (const gate of running) {
      for (const id of gate.task_ids) {
        if (views.has(id)) continue;
        views.set(id, {
          line,
          tasks: gate.task_ids,
          titles: gate.task_ids.map((each) => titles.get(each) ?? each),
          place: queue.indexOf(id) + 1,
          early: !gate.is_second && gate !== first,
          second: gate.is_second,
          since: Math.floor(gate.since_ms / 1000),
        });
      }
    }
  }
  return views;
}
