// Merges two commits without a checkout: merge-tree computes the tree, commit-tree creates the
// commit.

import { makeCommit } from './make-commit.ts';
import { err, ok } from '../../core/failure.ts';
import { unportableNames } from './added-names.ts';
import { isOnFirstParentLine, readTree } from './ancestry.ts';
import { editedTree } from './edited-tree.ts';
import { touchedPaths } from './touched-paths.ts';
import { settleBeads } from './beads-files.ts';
import { settleByPerson } from './settle-by-person.ts';
import type { RepositoryContext } from '../context.ts';
import { settings } from '../git-command.ts';
import { failureOf, gitFailure, printedId } from '../failures.ts';
import { commitMessage } from '../refs/messages.ts';
import { type PathBytes, shown, splitZero } from '../../files/path-bytes.ts';
import type { GitResult, Merge, MergeConflict, MergeRequest } from '../port.ts';
import { isSha, type Sha } from '../sha.ts';
import type { MergeAnswer, MergeStages } from './merge-answer.ts';
import type { GitOutput } from '../git-command.ts';

export type MergeTree =
  | { readonly kind: 'tree'; readonly tree: Sha }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/**
 * Parses the output of `merge-tree --write-tree -z --no-messages`. Exit code 1 means a conflict
 * only if a tree id comes first: for an unknown revision git also exits with 1, but prints nothing.
 * Returns null for neither.
 */
export function parseMergeTree(code: number, stdout: Buffer): MergeAnswer | null {
  if (code !== 0 && code !== 1) return null;
  const [tree, ...entries] = splitZero(stdout);
  if (tree === undefined || !isSha(tree.trim())) return null;
  if (code === 0) return { tree: tree.trim(), conflicts: [] };
  const byPath = new Map<PathBytes, MergeStages>();
  for (const entry of entries) {
    const found = /^(\d+) ([0-9a-f]+) ([123])\t(.+)$/su.exec(entry);
    if (found === null) continue;
    const [, mode = '', blob = '', stage = '', path = ''] = found;
    const before = byPath.get(path) ?? { path, mode, base: null, ours: null, theirs: null };
    const side = stage === '1' ? 'base' : stage === '2' ? 'ours' : 'theirs';
    byPath.set(path, { ...before, [side]: blob, ...(side === 'ours' ? { mode } : {}) });
  }
  return { tree: tree.trim(), conflicts: [...byPath.values()] };
}

export async function merge(
  context: RepositoryContext,
  request: MergeRequest,
): Promise<GitResult<Merge | MergeConflict>> {
  const { tip, commit } = request;
  if (!isSha(tip) || !isSha(commit)) {
    return err(gitFailure('unknown_ref', `"${tip}" and "${commit}" must be full commit ids.`));
  }
  const base = request.base ?? null;
  const merged =
    base === null
      ? await mergeTrees(context, tip, commit, request)
      : await mergeRange(context, base, tip, commit);
  if (!merged.ok) return merged;
  if (merged.value.kind === 'conflict') return ok(merged.value);
  const { tree } = merged.value;
  const parents = request.parents ?? (base === null ? [tip, commit] : [tip]);
  const message = commitMessage(request.subject, request.trailers);
  const made = await makeCommit(context, { tree, parents, message }, `commit a merge of ${commit}`);
  if (!made.ok) return made;
  const result: Merge = { kind: 'merged', commit: made.value, tree };
  // Work that started at the tip itself was checked when it was committed.
  if (request.portableNames !== true) return ok(result);
  if ((await context.objects.commit(commit))?.tree === tree) return ok(result);
  const touched = touchedPaths(context).by(commit);
  const found = await unportableNames(context, tip, made.value, touched);
  if (!found.ok) return found;
  return ok(
    Object.keys(found.value).length === 0 ? result : { ...result, unportable: found.value },
  );
}

export async function conflicts(
  context: RepositoryContext,
  one: Sha,
  other: Sha,
): Promise<GitResult<readonly string[]>> {
  const merged = await mergeTrees(context, one, other);
  if (!merged.ok) return merged;
  return ok(merged.value.kind === 'conflict' ? merged.value.files : []);
}

/**
 * A three-way merge with an explicit base. `merge-tree` finds its base in the history (its option
 * for another base is newer than the git that we require), so it gets three substitute commits with
 * the same trees and the intended history.
 */
async function mergeRange(
  context: RepositoryContext,
  base: Sha,
  tip: Sha,
  commit: Sha,
): Promise<GitResult<MergeTree>> {
  const root = await standIn(context, base, null);
  if (!root.ok) return root;
  const ours = await standIn(context, tip, root.value);
  if (!ours.ok) return ours;
  const theirs = await standIn(context, commit, root.value);
  return theirs.ok ? mergeTrees(context, ours.value, theirs.value) : theirs;
}

/** Always the same commit for the same tree and parent. */
async function standIn(
  context: RepositoryContext,
  commit: Sha,
  parent: Sha | null,
): Promise<GitResult<Sha>> {
  const tree = await readTree(context, commit);
  if (!tree.ok) return tree;
  const epoch = '@0 +0000';
  const made = await context.git(
    ['commit-tree', tree.value, ...(parent === null ? [] : ['-p', parent]), '-m', 'stand-in'],
    { env: { ...(await context.identity()), GIT_AUTHOR_DATE: epoch, GIT_COMMITTER_DATE: epoch } },
  );
  return printedId(made, `stand in for ${commit}`);
}

/** Work that started at the tip itself needs no merge: its tree is the result. */
async function mergeTrees(
  context: RepositoryContext,
  tip: Sha,
  commit: Sha,
  how: Pick<MergeRequest, 'settled' | 'preferTip'> = {},
): Promise<GitResult<MergeTree>> {
  const { settled: byPerson = new Map(), preferTip = false } = how;
  const own = await context.objects.commit(commit);
  if (own !== null && (await isOnFirstParentLine(context, tip, commit)))
    return ok({ kind: 'tree', tree: own.tree });
  const options = ['-z', '--no-messages', ...(preferTip ? ['--allow-unrelated-histories'] : [])];
  const output = await withDrivers((overrules) =>
    context.git([...overrules, 'merge-tree', '--write-tree', ...options, tip, commit]),
  );
  const answer = output.problem === null ? parseMergeTree(output.code, output.stdout) : null;
  if (answer === null) return err(failureOf(output, `merge ${commit} into ${tip}`));
  const settled = await settleBeads(context, answer);
  if (!settled.ok) return settled;
  const { tree, conflicts } = settled.value;
  if (conflicts.length === 0) return ok({ kind: 'tree', tree });
  if (preferTip) {
    const chosen = await withTipsFiles(context, settled.value);
    return chosen.ok ? ok({ kind: 'tree', tree: chosen.value }) : chosen;
  }
  if (byPerson.size > 0) {
    const chosen = await settleByPerson(context, settled.value, byPerson);
    if (!chosen.ok) return chosen;
    if (chosen.value !== null) return ok({ kind: 'tree', tree: chosen.value });
  }
  return ok({ kind: 'conflict', files: conflicts.map(({ path }) => shown(path)) });
}

function withTipsFiles(
  context: RepositoryContext,
  { tree, conflicts }: MergeAnswer,
): Promise<GitResult<Sha>> {
  const remove = conflicts.filter(({ ours }) => ours === null).map(({ path }) => path);
  const entries = conflicts.flatMap(({ path, mode, ours }) =>
    ours === null ? [] : [`${mode} ${ours} 0\t${path}`],
  );
  return editedTree(context, tree, { remove, entries });
}

const driversMax = 10;

/**
 * The driver that bd installs combines two issues that were given the same id into one. With
 * `false`, git reports a conflict for each of its files, which is then merged issue by issue.
 */
const bdDriver = { 'merge.beads.driver': 'false' };

/**
 * Git aborts a merge if .gitattributes names a driver without a configured command. Such a file is
 * merged as text, as if the configuration did not mention the driver.
 */
async function withDrivers(
  body: (overrules: readonly string[]) => Promise<GitOutput>,
): Promise<GitOutput> {
  const values: Record<string, string> = { ...bdDriver };
  for (;;) {
    const output = await body(settings(values));
    const name = /custom merge driver ([^=\n]+) lacks command line/u.exec(output.stderr)?.[1];
    const key = `merge.${name ?? ''}.driver`;
    if (output.code === 0 || name === undefined || key in values) return output;
    if (Object.keys(values).length >= driversMax) return output;
    values[key] = 'git merge-file -q --marker-size=%L %A %O %B';
  }
}
