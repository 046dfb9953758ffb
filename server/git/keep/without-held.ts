// Removes files that must never land from a commit's work, together with the history that contains
// them.

import { makeCommit } from '../ask/make-commit.ts';
import { err, ok } from '../../core/failure.ts';
import { unportableNames } from '../ask/added-names.ts';
import type { RepositoryContext } from '../context.ts';
import { tooLargeAmong } from '../ask/committed-sizes.ts';
import { editedTree } from '../ask/edited-tree.ts';
import { failureOf } from '../failures.ts';
import { secretsAmong, secretsInRange } from './held-contents.ts';
import { isAmongStored, secretNames } from './held-names.ts';
import { commitMessage } from '../refs/messages.ts';
import { type PathBytes, shown, splitZero } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import type { Sha } from '../sha.ts';
import type { WithoutHeldRequest } from '../slot-port.ts';

export interface RangeChanges {
  /** Files that a commit added or changed, even if a later one removed them. */
  readonly present: readonly PathBytes[];
  /** Every content of such a path, except submodules. */
  readonly blobs: ReadonlyMap<PathBytes, ReadonlySet<Sha>>;
  /** Files that a commit removed. */
  readonly removed: readonly PathBytes[];
}

export function changesOfRange(
  context: RepositoryContext,
  base: Sha,
  head: Sha,
): Promise<GitResult<RangeChanges>> {
  return listEdits(context, [`${base}..${head}`]);
}

/** Lists the changes of each commit in the revisions relative to each of its parents. */
export async function listEdits(
  context: RepositoryContext,
  revisions: readonly string[],
): Promise<GitResult<RangeChanges>> {
  const output = await context.git([
    'log',
    '-z',
    '--format=',
    '-m',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--diff-filter=AMTD',
    ...revisions,
    '--',
  ]);
  if (output.code !== 0) return err(failureOf(output, 'list what the agent has committed'));
  const present = new Set<PathBytes>();
  const removed = new Set<PathBytes>();
  const blobs = new Map<PathBytes, Set<Sha>>();
  // `:100644 100644 <old> <new> M` alternates with a path. An empty part, or a line break before
  // it, separates two commits.
  let facts = '';
  for (const part of splitZero(output.stdout)) {
    if (facts === '') {
      facts = part.trim();
      continue;
    }
    const [, mode = '', , sha = '', letter = ''] = facts.split(' ');
    (letter === 'D' ? removed : present).add(part);
    if (letter !== 'D' && mode !== submoduleMode) {
      blobs.set(part, (blobs.get(part) ?? new Set<Sha>()).add(sha));
    }
    facts = '';
  }
  return ok({ present: [...present], removed: [...removed], blobs });
}

const submoduleMode = '160000';

/**
 * Returns the commit itself if it contains none of them, and null if nothing is left without them.
 */
export async function withoutHeld(
  context: RepositoryContext,
  request: WithoutHeldRequest,
): Promise<GitResult<Sha | null>> {
  const { base, commit } = request;
  const range = await changesOfRange(context, base, commit);
  if (!range.ok) return range;
  const names = await secretNames(context, base, range.value.present);
  if (!names.ok) return names;
  const isStored = isAmongStored(request.held, names.value);
  const held = range.value.present.filter(
    (path) => isStored(path) || context.isHeldName(shown(path)),
  );
  if (held.length === 0 && !request.held.includes(heldMessage)) return ok(commit);
  const foreign = await unportableNames(context, base, commit);
  if (!foreign.ok) return foreign;
  const isForName = (path: PathBytes): boolean =>
    names.value.has(path) || context.isHeldName(shown(path)) || shown(path) in foreign.value;
  const curable = held.filter((path) => !isForName(path));
  const cured = await curedLater(context, request, range.value, curable);
  if (!cured.ok) return cured;
  return squash(
    context,
    request,
    held.filter((path) => !cured.value.has(path)),
  );
}

/** Stands for a commit message with a secret, in place of a path. */
export const heldMessage = 'the message of a commit';

/**
 * Files that contained a secret or were too large only earlier in the history. Their last state may
 * land.
 */
async function curedLater(
  context: RepositoryContext,
  { base, commit, maxFileSize = Number.POSITIVE_INFINITY }: WithoutHeldRequest,
  range: RangeChanges,
  curable: readonly PathBytes[],
): Promise<GitResult<ReadonlySet<PathBytes>>> {
  const asked = new Set(curable);
  const history = new Map([...range.blobs].filter(([path]) => asked.has(path)));
  const ever = await secretsInRange(context, base, history, range.removed);
  if (!ever.ok) return ever;
  const everLarge = await tooLargeAmong(context, history, maxFileSize);
  if (!everLarge.ok) return everLarge;
  const paths = [...new Set([...ever.value.keys(), ...everLarge.value])];
  const names = new Map(paths.map((path) => [path, `${commit}:${path}`]));
  const now = await secretsAmong(context, base, names, range.removed);
  if (!now.ok) return now;
  const { found, read } = now.value;
  const asNamed = new Map([...names].map(([path, name]) => [path, new Set([name])]));
  const large = await tooLargeAmong(context, asNamed, maxFileSize);
  if (!large.ok) return large;
  return ok(new Set([...read].filter((path) => !found.has(path) && !large.value.has(path))));
}

async function squash(
  context: RepositoryContext,
  { base, commit, subject, trailers }: WithoutHeldRequest,
  held: readonly PathBytes[],
): Promise<GitResult<Sha | null>> {
  const listed = await context.git(['--literal-pathspecs', 'ls-tree', '-r', '-z', base]);
  if (listed.code !== 0) return err(failureOf(listed, `list the files of ${base}`));
  const wanted = new Set(held);
  const before = splitZero(listed.stdout).filter((entry) =>
    wanted.has(entry.slice(entry.indexOf('\t') + 1)),
  );
  const edited = await editedTree(context, commit, { remove: held, entries: before });
  if (!edited.ok) return edited;
  const tree = edited.value;
  const same = await context.git(['diff-tree', '--quiet', base, tree]);
  if (same.code === 0) return ok(null);
  const message = commitMessage(subject, trailers);
  return makeCommit(context, { tree, parents: [base], message }, 'commit what may land');
}
