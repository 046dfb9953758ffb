// `drover doctor --remote-commits`: checks whether the fleet's git remote has every commit that its
// database names, which may not be so after one of them was restored.

import { formatCount } from '../core/format.ts';
import { openGitAdapter } from '../git/repository/adapter.ts';
import { missingOnRemote } from '../git/remote/missing-commits.ts';
import { namedCommits } from '../store/history/named-commits.ts';
import { openPostgresStore } from '../store/postgres/open.ts';
import { storeSources } from '../project/store-sources.ts';
import type { LiveSettings } from '../project/live-settings.ts';
import type { Check } from './check.ts';

const timeoutMs = 120_000;
/** Maximum number of commits named. The others are counted. */
const shownMax = 10;

export async function remoteCommitsCheck(
  root: string,
  { settings }: LiveSettings,
  url: string,
): Promise<readonly Check[]> {
  const name = 'remote commits';
  const local = await openGitAdapter().open(root);
  // Already reported.
  if (!local.ok) return [];
  const opened = await openPostgresStore(url, storeSources);
  const named = await readAndClose(opened);
  const { remote, branchPrefix } = settings.fleet;
  const commits = [...named.keys()];
  const found = await missingOnRemote(local.value, { remote, branchPrefix, timeoutMs }, commits);
  if (!found.ok) return [{ name, ok: false, message: found.error.message }];
  const missing = found.value;
  const all = formatCount(commits.length, 'commit', 'commits');
  if (missing.length === 0)
    return [{ name, ok: true, message: `${remote} has all ${all} that the plan names` }];
  const shown = missing.slice(0, shownMax).map(({ commit, isHere }) => {
    const place = isHere ? 'in this clone' : 'not in this clone';
    return `${commit.slice(0, 12)} of ${named.get(commit)} (${place})`;
  });
  const more = missing.length > shownMax ? [`${missing.length - shownMax} more`] : [];
  const cure = `In a clone that has it: git push ${remote} <commit>:refs/drover/rescue/restored/<commit>`;
  const message = `${remote} lacks ${missing.length} of ${all} that the plan names: ${[...shown, ...more].join(', ')}. ${cure}`;
  return [{ name, ok: false, message }];
}

async function readAndClose({
  store,
  close,
}: Awaited<ReturnType<typeof openPostgresStore>>): Promise<ReadonlyMap<string, string>> {
  try {
    return await namedCommits(store.db);
  } finally {
    await close();
  }
}
