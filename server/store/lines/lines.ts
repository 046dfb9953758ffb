// The row of each landing line. `landed_sha` is the last tip of the line that Drover recorded.
// `followed_sha` is the state of the branch that this tip includes. Only this file writes them.

import type { WrongState } from '../../core/work/wrong-state.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { textList } from '../rows/one-moment.ts';
import type { LineRow, Reads, Tx } from '../schema/tables.ts';

export async function allLines(db: Reads): Promise<readonly LineRow[]> {
  return db.selectFrom('lines').selectAll().execute();
}

export async function readLine(tx: Reads, branch: string): Promise<LineRow | null> {
  const row = await tx
    .selectFrom('lines')
    .selectAll()
    .where('branch', '=', branch)
    .executeTakeFirst();
  return row ?? null;
}

/** The known state of a line after a move. Omitted fields stay unchanged. */
export interface LineMoved {
  readonly landed: string;
  readonly followed?: string;
  /** The branch that an epic's line starts from. */
  readonly parent?: string;
}

export async function recordLine(
  tx: Tx,
  branch: string,
  { landed, followed, parent }: LineMoved,
): Promise<void> {
  const set = {
    landed_sha: landed,
    ...(followed !== undefined && { followed_sha: followed }),
    ...(parent !== undefined && { parent_branch: parent }),
  };
  await tx
    .insertInto('lines')
    .values({ branch, ...set })
    .onConflict((conflict) => conflict.column('branch').doUpdateSet(set))
    .execute();
}

/** Records, before the ref moves, that the line is about to include this state of the branch. */
export async function includeBranch(tx: Tx, branch: string, sha: string): Promise<void> {
  await tx.updateTable('lines').set({ followed_sha: sha }).where('branch', '=', branch).execute();
}

/**
 * Records that work has landed on a line. If the line is an epic's, that epic has something to
 * land, even if it has landed before.
 */
export async function landOnLine(tx: Tx, branch: string, sha: string): Promise<void> {
  await recordLine(tx, branch, { landed: sha });
  await tx
    .updateTable('epics')
    .set({ landing_state: null })
    .where('branch', '=', branch)
    .where('landing_state', '=', 'landed')
    .execute();
}

/**
 * Records landings that the branch lacks, and why. The feed reports the start and the end of a
 * wait.
 */
export async function setPending(
  tx: Tx,
  sources: StoreSources,
  branch: string,
  {
    tip,
    commits,
    reason,
  }: { readonly tip: string; readonly commits: number; readonly reason: string | null },
): Promise<void> {
  const known = await readLine(tx, branch);
  if (known === null || (known.pending === commits && known.pending_reason === reason)) return;
  await tx
    .updateTable('lines')
    .set({ pending: commits, pending_reason: reason })
    .where('branch', '=', branch)
    .execute();
  const data = { branch, sha: tip };
  if (commits > 0)
    await appendEvent(tx, sources, { type: 'target.pending', data: { ...data, commits, reason } });
  else if (known.pending > 0) await appendEvent(tx, sources, { type: 'target.followed', data });
}

/** The last merge or replay that was tried for these two tips, so that it is made only once. */
export interface TriedMerge {
  readonly kind: 'merge' | 'replay';
  readonly target: string;
  readonly tip: string;
  /** Null if it conflicts. */
  readonly commit: string | null;
  readonly tree: string | null;
  /** The commit for the result branch. */
  readonly shown: string | null;
  /** Explains why it failed. */
  readonly reason: string | null;
}

export function triedMerge(line: Pick<LineRow, 'tried'> | null): TriedMerge | null {
  const text = line?.tried ?? null;
  return text === null ? null : (JSON.parse(text) as TriedMerge);
}

export async function noteTried(tx: Tx, branch: string, tried: TriedMerge | null): Promise<void> {
  await tx
    .updateTable('lines')
    .set({ tried: tried === null ? null : JSON.stringify(tried) })
    .where('branch', '=', branch)
    .execute();
}

export function droppedTips(line: Pick<LineRow, 'dropped'> | null): readonly string[] {
  return line === null ? [] : textList(line.dropped);
}

/** Maximum number of removed tips kept per line. The oldest are dropped. */
const droppedMax = 50;

/**
 * Records that users removed the tip from the branch, so that later work does not restore its
 * commits.
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

/** Problems of the branch and its checkout, which are reported until a person fixes them. */
export function wrongStates(line: Pick<LineRow, 'wrong'> | null): readonly WrongState[] {
  return line === null ? [] : (JSON.parse(line.wrong) as WrongState[]);
}

/** Replaces the states of a line. The feed reports each change. */
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

/**
 * Holds a line, or releases it if `reason` is null. The feed reports the start and the end once.
 */
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
