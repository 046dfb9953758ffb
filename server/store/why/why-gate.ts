// The gate's output for a task's work: the lines that explain the failure, and the path of the
// whole output.

import { sql } from 'kysely';
import type { FailureKind } from '../../core/failure.ts';
import type { Db } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';

/** The task's last error already contains this many lines. */
const toldAlready = 3;
const gateFailed: FailureKind = 'gate_failed';

/** Empty unless the gate caused the task's last failure. */
export async function whyGate(db: Db, row: Pick<TaskRow, 'id'>): Promise<string[]> {
  const attempt = await db
    .selectFrom('attempts')
    .select('failure_kind')
    .where('task_id', '=', row.id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (attempt?.failure_kind !== gateFailed) return [];
  const found = await db
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'gate.failed')
    .where(sql<boolean>`replace(data, ${JSON.stringify(row.id)}, '') <> data`)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) return [];
  const data = JSON.parse(found.data) as { readonly telling?: unknown; readonly log?: unknown };
  const telling = Array.isArray(data.telling) ? data.telling.map(String) : [];
  const said = telling.length > toldAlready ? [`The gate printed: ${telling.join(' | ')}`] : [];
  const log = typeof data.log === 'string' ? [`Its full output is in ${data.log}.`] : [];
  return [...said, ...log];
}
