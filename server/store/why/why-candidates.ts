// Explains the state of a task's candidates, for which the task waits.

import { candidateStanding } from '../../core/plan/best-of.ts';
import { candidateFacts, candidatesOf } from '../work/candidates.ts';
import type { Db } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';

/** Empty for a task without candidates. */
export async function whyCandidates(db: Db, row: TaskRow): Promise<string[]> {
  const rows = await candidatesOf(db, row.id);
  if (rows.length === 0) return [];
  const stands = rows.map((one) => candidateStanding(candidateFacts(one)));
  const count = (stand: string): number => stands.filter((one) => one === stand).length;
  const sentence = `${row.id} has ${rows.length} candidates: ${count('green')} passed the gate, ${count('open')} can still pass, ${count('ended')} ended otherwise.`;
  if (count('open') > 0 || count('green') > 0) return [sentence];
  return [
    sentence,
    `None of them can be chosen: "drover retry <candidate>" retries one, "drover cancel ${row.id}" gives up the task.`,
  ];
}
