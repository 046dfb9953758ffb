// Stashes of the user, which all worktrees share: `git stash pop` of an agent that has stashed
// nothing takes the user's. Drover does not write the list. A stash that is gone from it is kept
// under a ref, and the task reports it.

import { join } from 'node:path';
import { rescueRoot } from '../../core/work/ref-names.ts';
import { quoted } from '../../core/format.ts';
import type { RepositoryContext } from '../context.ts';
import { readText } from '../../files/small-files.ts';
import { readRef, updateRefs } from '../refs/refs.ts';
import type { SharedChange } from '../slot-port.ts';
import { isSha, type Sha } from '../sha.ts';

export interface Stash {
  readonly sha: Sha;
  readonly message: string;
}

/** Oldest first, without those that attempts have made. */
export function personStashes(context: RepositoryContext): readonly Stash[] {
  const log = readText(join(context.commonDir, 'logs', 'refs', 'stash')) ?? '';
  return log.split('\n').flatMap((line) => {
    const [facts = '', message = ''] = line.split('\t');
    const sha = facts.split(' ')[1] ?? '';
    const isOurs = /^(?:WIP on|On) drover\//.test(message);
    return isSha(sha) && !isOurs ? [{ sha, message }] : [];
  });
}

function goneStashes(context: RepositoryContext, before: readonly Stash[]): readonly Stash[] {
  if (before.length === 0) return [];
  const present = new Set(personStashes(context).map(({ sha }) => sha));
  return before.filter(({ sha }) => !present.has(sha));
}

/** Gives each stash that is gone a ref, and reports those that have none yet. */
export async function keepGone(
  context: RepositoryContext,
  before: readonly Stash[],
): Promise<readonly SharedChange[]> {
  const changes: SharedChange[] = [];
  for (const { sha, message } of goneStashes(context, before)) {
    const ref = `${rescueRoot}stashes/${sha}`;
    if ((await readRef(context, ref)) !== null) continue;
    const change = { ref, next: sha, old: null };
    const kept = await updateRefs(context, [change], 'drover: a stash is gone');
    if (!kept.ok) continue;
    const restore = `git stash store -m ${quoted(message)} ${sha}`;
    changes.push({ kind: 'stash', message, ref, restore });
  }
  return changes;
}
