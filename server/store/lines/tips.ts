// The tips that Drover has written, or was about to write, into the refs of its lines. Any other
// value was written by another program.

import type { StoreSources } from '../feed/feed.ts';
import type { Reads, Tx } from '../schema/tables.ts';

/** Maximum number of tips per line. */
const tipsMax = 1_000;

/** Called before the ref moves, so that Drover recognizes the value after a crash. */
export async function noteTip(
  tx: Tx,
  sources: StoreSources,
  branch: string,
  sha: string,
): Promise<void> {
  const atMs = sources.clock.now();
  await tx
    .insertInto('line_tips')
    .values({ branch, sha, at_ms: atMs })
    .onConflict((conflict) => conflict.columns(['branch', 'sha']).doUpdateSet({ at_ms: atMs }))
    .execute();
  const oldest = await tx
    .selectFrom('line_tips')
    .select('at_ms')
    .where('branch', '=', branch)
    .orderBy('at_ms', 'desc')
    .offset(tipsMax)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await tx
    .deleteFrom('line_tips')
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
