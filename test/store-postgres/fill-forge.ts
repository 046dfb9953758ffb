// Rows in the tables of a forge, for the test that moves a project.

import type { Store } from '../../server/store/port.ts';
import { tablesOf } from '../tables.ts';

export async function fillForge(
  tx: Parameters<Parameters<Store['transaction']>[0]>[0],
): Promise<void> {
  const key = { provider: 'github', host: 'github.com', native_id: 'PR_1' };
  const commits = { head_sha: 'a', tested_tree: 'b', base: 'main', branch: 'drover/e' };
  const place = { slug: 'o/r', number: 1, url: 'https://github.com/o/r/pull/1' };
  await tablesOf(tx)
    .insertInto('forge_items')
    .values({
      ...key,
      ...place,
      ...commits,
      epic_id: 'e',
      run_id: 'r',
      state: 'open',
      created_at_ms: 1,
    })
    .execute();
  await tablesOf(tx)
    .insertInto('forge_facts')
    .values({ ...key, fact: 'core' })
    .execute();
  await tablesOf(tx)
    .insertInto('forge_reactions')
    .values({ ...key, key: 'check/unit/a', subject: 'check/unit', state: 'shown', at_ms: 1 })
    .execute();
  const request = { kind: 'push', request: '{}', state: 'pending', position: 0 } as const;
  await tablesOf(tx)
    .insertInto('forge_outbox')
    .values({ key: 'e/push', epic_id: 'e', ...request, next_at_ms: 1, created_at_ms: 1 })
    .execute();
  await tablesOf(tx)
    .insertInto('forge_issues')
    .values({ ...key, native_id: 'I_1', slug: 'o/r', number: 1, item_id: 'gh-1' })
    .execute();
}
