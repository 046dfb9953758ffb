// The content of a review: the files of a change and their contents at a commit, read from git.

import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { trailer } from '../../core/work/trailers.ts';
import { Refusal } from '../../core/failure.ts';
import type { Handlers } from '../../protocol/api.ts';
import { findChange, type Change } from '../../store/status/compared-commits.ts';
import { changeEndpoints } from './data-work.ts';
import type { DataGit, DataHandlerDeps } from './data-deps.ts';

type ReviewRequests = 'change' | 'file.read';

const filesMax = 2_000;
const fileBytesMax = 8 * 1024 * 1024;
/** Number of bytes that git itself checks for binary content. */
const binaryLookBytes = 8_000;

export function reviewHandlers(deps: DataHandlerDeps): Pick<Handlers, ReviewRequests> {
  const { git, store } = deps;
  return {
    change: async ({ id: wanted, against }) => {
      const change = await findChange(store.db, wanted);
      const ends = (await mergedEnds(git, change)) ?? (await changeEndpoints(git, best(change)));
      const { head } = ends;
      const base =
        against === undefined
          ? ends.base
          : (await changeEndpoints(git, best(await findChange(store.db, against)))).head;
      const files = await git.changedFiles(base, head);
      if (!files.ok) throw new Refusal('git', files.error.message);
      const size = await git.sizeOfChange(base, head);
      const { id, kind, title, stage } = change;
      return {
        id,
        kind,
        title,
        base,
        head,
        state: stage,
        files: files.value
          .slice(0, filesMax)
          .map(({ path, oldPath, status }) => ({ path, old_path: oldPath, status })),
        truncated: files.value.length > filesMax,
        size: size.ok
          ? { insertions: size.value.insertions, deletions: size.value.deletions }
          : null,
      };
    },
    'file.read': async ({ sha, path }) => {
      refuseOddPath(path);
      if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(sha)) {
        throw new Refusal('bad_request', '"sha" must be a full commit id.');
      }
      const commit = await git.resolve(sha);
      if (!commit.ok) throw new Refusal('unknown_ref', commit.error.message);
      const file = await git.fileAt(commit.value, path, fileBytesMax);
      if (!file.ok) throw new Refusal('git', file.error.message);
      if (file.value === null) return { text: null, binary: false, size: 0 };
      const { size, bytes } = file.value;
      if (bytes === null) return { text: null, binary: false, size };
      const text = textIn(bytes);
      return { text, binary: text === null, size };
    },
  };
}

/**
 * Landed work is shown as it landed, running work as on its current branch, and other work as the
 * attempt's result.
 */
function best(change: Change): Change {
  const fits = ({ base, head }: Change['candidates'][number]): boolean => {
    if (change.stage === 'landed') return base.endsWith('^1');
    return change.stage === 'working' && head.startsWith('refs/');
  };
  const first = change.candidates.filter(fits);
  const rest = change.candidates.filter((candidate) => !fits(candidate));
  return { ...change, candidates: [...first, ...rest] };
}

/**
 * An epic's line merged as the target would receive it. Null if unknown (a conflict, or a missing
 * branch).
 */
async function mergedEnds(
  git: DataGit,
  change: Change,
): Promise<{ readonly base: string; readonly head: string } | null> {
  if (change.wouldLand === null) return null;
  const { line, target } = change.wouldLand;
  const tip = await lineTip(git, target);
  const head = await lineTip(git, line);
  if (tip === null || head === null) return null;
  const merged = await git.merge({
    tip,
    commit: head,
    subject: `drover: ${change.id} ${change.title}`,
    trailers: [trailer('epic', change.id)],
  });
  if (!merged.ok || merged.value.kind === 'conflict') return null;
  return { base: tip, head: merged.value.commit };
}

async function lineTip(git: DataGit, branch: string): Promise<string | null> {
  return (await git.readRef(landingRef(branch))) ?? git.readRef(branchRef(branch));
}

/**
 * Allows only names of files in the tree: no absolute paths, no parent folders, no text that git
 * could parse as an option.
 */
function refuseOddPath(path: string): void {
  const parts = path.split('/');
  const isOdd =
    path === '' ||
    path.includes('\0') ||
    parts.some((part) => part === '' || part === '.' || part === '..');
  if (isOdd) {
    throw new Refusal('bad_request', '"path" must be a path inside the repository.');
  }
}

function textIn(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, binaryLookBytes).includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
