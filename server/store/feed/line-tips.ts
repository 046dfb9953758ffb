// What Drover has written into the refs of its lines, what people have taken out of them, and what
// stops a line.

import type { WrongState } from '../../core/work/wrong-state.ts';
import type { StoreSources } from './feed.ts';
import { appendEvent } from './feed.ts';
import { textList } from '../rows/one-moment.ts';
import type { LineRow, Reads, Tx } from '../schema/tables.ts';

/** Values kept for each line. */
const tipsMax = 1_000;

/** Before the ref moves: a value found there after a crash in between is ours. */
export function noteTip(tx: Tx, sources: StoreSources, branch: string, sha: string): Promise<void> {
  return noteIn('line_tips', tx, sources, { branch, sha });
}

async function noteIn(
  table: 'line_tips' | 'taken_tips',
  tx: Tx,
  sources: StoreSources,
  { branch, sha }: { readonly branch: string; readonly sha: string },
): Promise<void> {
  const atMs = sources.clock.now();
  await tx
    .insertInto(table)
    .values({ branch, sha, at_ms: atMs })
    .onConflict((conflict) => conflict.columns(['branch', 'sha']).doUpdateSet({ at_ms: atMs }))
    .execute();
  const oldest = await tx
    .selectFrom(table)
    .select('at_ms')
    .where('branch', '=', branch)
    .orderBy('at_ms', 'desc')
    .offset(tipsMax)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await tx
    .deleteFrom(table)
    .where('branch', '=', branch)
    .where('at_ms', '<=', oldest.at_ms)
    .execute();
}

export async function isNotedTip(db: Reads, branch: string, sha: string): Promise<boolean> {
  const row = await db
    .selectFrom('line_tips')
    .select('sha')
    .where('branch', '=', branch)
    .where('sha', '=', sha)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The line is about to include this commit, at which people had their branch. It is noted first, so
 * that it is known as theirs even if the process dies before anything else is written: once they
 * remove it from the branch, it must not come back as landed work. A tip that Drover has written
 * into the line is not theirs.
 */
export async function noteTaken(
  tx: Tx,
  sources: StoreSources,
  branch: string,
  sha: string,
): Promise<void> {
  if (await isNotedTip(tx, branch, sha)) return;
  await noteIn('taken_tips', tx, sources, { branch, sha });
}

/** Which of the commits people had their branch at when the line included them. */
export async function takenAmong(
  db: Reads,
  branch: string,
  shas: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let at = 0; at < shas.length; at += askedMax) {
    const rows = await db
      .selectFrom('taken_tips')
      .select('sha')
      .where('branch', '=', branch)
      .where('sha', 'in', shas.slice(at, at + askedMax))
      .execute();
    for (const { sha } of rows) found.add(sha);
  }
  return found;
}

/** Values in one statement. */
const askedMax = 500;

export function droppedTips(line: Pick<LineRow, 'dropped'> | null): readonly string[] {
  return line === null ? [] : textList(line.dropped);
}

/** Tips kept that people have taken out of a line; the oldest go first. */
const droppedMax = 50;

/**
 * People have taken the tip out of the branch: what only it held must not come back with later
 * work.
 */
export async function noteDropped(tx: Tx, branch: string, sha: string): Promise<void> {
  const row = await tx
    .selectFrom('lines')
    .select('dropped')
    .where('branch', '=', branch)
    .executeTakeFirst();
  if (row === undefined) return;
  const tips = [...droppedTips(row).filter((tip) => tip !== sha), sha].slice(-droppedMax);
  await tx
    .updateTable('lines')
    .set({ dropped: JSON.stringify(tips) })
    .where('branch', '=', branch)
    .execute();
}

/** What is reported of the branch and its checkout until a person cures it. */
export function wrongStates(line: Pick<LineRow, 'wrong'> | null): readonly WrongState[] {
  return line === null ? [] : (JSON.parse(line.wrong) as WrongState[]);
}

/** Replaces the states of a line; the feed reports each change. */
export async function setWrongStates(
  tx: Tx,
  sources: StoreSources,
  branch: string,
  states: readonly WrongState[],
): Promise<void> {
  const wrong = JSON.stringify(states);
  const row = await tx
    .selectFrom('lines')
    .select('wrong')
    .where('branch', '=', branch)
    .executeTakeFirst();
  if (row === undefined || row.wrong === wrong) return;
  await tx.updateTable('lines').set({ wrong }).where('branch', '=', branch).execute();
  const type = states.length === 0 ? 'target.cured' : 'target.wrong';
  await appendEvent(tx, sources, { type, data: { branch, states: [...states] } });
}

/** `reason` null: the line is free again. The feed reports the start and the end of a hold once. */
export async function holdLine(
  tx: Tx,
  sources: StoreSources,
  branch: string,
  reason: string | null,
): Promise<void> {
  const row = await tx
    .selectFrom('lines')
    .select(['held_reason', 'held_since_ms'])
    .where('branch', '=', branch)
    .executeTakeFirst();
  if (row === undefined || row.held_reason === reason) return;
  const since = reason === null ? null : (row.held_since_ms ?? sources.clock.now());
  await tx
    .updateTable('lines')
    .set({ held_reason: reason, held_since_ms: since })
    .where('branch', '=', branch)
    .execute();
  await appendEvent(tx, sources, {
    type: reason === null ? 'line.released' : 'line.held',
    data: { branch, ...(reason === null ? {} : { reason }) },
  });
}
