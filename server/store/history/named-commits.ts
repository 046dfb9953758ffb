// Commits that the plan refers to: landed ones, finished ones that have not landed, and the tips of
// lines.

import type { Db } from '../rows/one-moment.ts';

/** Maps each commit to the task or branch that refers to it. */
export async function namedCommits(db: Db): Promise<ReadonlyMap<string, string>> {
  const tasks = await db
    .selectFrom('tasks')
    .select(['id', 'landed_sha', 'commit_sha'])
    .where('status', '!=', 'cancelled')
    .orderBy('id')
    .execute();
  const lines = await db.selectFrom('lines').select(['branch', 'landed_sha']).execute();
  const named = new Map<string, string>();
  for (const { branch, landed_sha: sha } of lines) named.set(sha, branch);
  for (const { id, landed_sha: landed, commit_sha: made } of tasks) {
    const sha = landed ?? made;
    if (sha !== null) named.set(sha, id);
  }
  return named;
}
