// The times of an epic's pull requests, from its last landing to their merge.

import {
  pullWaits,
  type ReportPull,
  waitsBetween,
  type WaitMark,
} from '../../core/forge/pull-waits.ts';
import { isUndo } from '../../core/forge/pull-plan.ts';
import type { Reads } from '../schema/tables.ts';
import { pullsOfEpic } from './pull-requests.ts';

/** Oldest first; without those that revert the epic. */
export async function readPullTimes(
  db: Reads,
  epicId: string,
  nowMs: number,
): Promise<readonly ReportPull[]> {
  const pulls = (await pullsOfEpic(db, epicId)).filter((pull) => !isUndo(pull)).toReversed();
  if (pulls.length === 0) return [];
  const rows = await db
    .selectFrom('events')
    .select(['type', 'at_ms', 'data'])
    .where('epic_id', '=', epicId)
    .where('type', 'in', ['task.completed', 'epic.pull_request_waits', 'epic.landed'])
    .orderBy('seq')
    .execute();
  const landings = rows.filter(({ type }) => type === 'task.completed');
  const marks = rows.flatMap(({ type, at_ms: atMs, data }) =>
    type === 'epic.pull_request_waits' ? markIn(data, atMs) : [],
  );
  const ends = await endsOfPulls(db, epicId);
  return pulls.map(({ number, url, state, native_id: id, created_at_ms: openedMs }) => {
    const toMs = state === 'open' ? nowMs : (ends.get(id) ?? nowMs);
    const before = landings.filter(({ at_ms: atMs }) => atMs <= toMs);
    const fromMs = Math.min(toMs, before.at(-1)?.at_ms ?? openedMs);
    const own = marks.filter((mark) => mark.number === number);
    return { number, url, state, ms: toMs - fromMs, waits: waitsBetween(fromMs, toMs, own) };
  });
}

/** Once it is merged or closed, it is not read any more. */
async function endsOfPulls(db: Reads, epicId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('forge_facts as f')
    .innerJoin('forge_items as i', 'i.native_id', 'f.native_id')
    .select(['f.native_id', 'f.read_at_ms'])
    .where('i.epic_id', '=', epicId)
    .where('f.fact', '=', 'core')
    .execute();
  return new Map(rows.map((row) => [row.native_id, row.read_at_ms ?? 0]));
}

/** An older Drover stored no cause. */
function markIn(data: string, atMs: number): readonly (WaitMark & { readonly number: unknown })[] {
  const { number, cause } = JSON.parse(data) as Readonly<Record<string, unknown>>;
  const known = pullWaits.find((one) => one === cause);
  return known === undefined ? [] : [{ atMs, cause: known, number }];
}
