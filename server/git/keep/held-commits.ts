// Finds files that must never be committed but that an agent committed itself.

import type { ParsedStatus } from '../ask/status-format.ts';
import { ok } from '../../core/failure.ts';
import type { HeldCause } from '../../core/plan/verdict.ts';
import { droverBranchPrefix, droverHeadRoot } from '../../core/work/ref-names.ts';
import { tooLargeAmong } from '../ask/committed-sizes.ts';
import type { RepositoryContext } from '../context.ts';
import { heldInMessages, type SecretPaths, secretsInRange } from './held-contents.ts';
import { secretNames, type SecretNames, shownName } from './held-names.ts';
import { ignoreRules, isIgnoreFile } from '../ask/ignore-rules.ts';
import { type PathBytes, shown } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { factsOfAll } from '../../files/small-files.ts';
import { listEdits, changesOfRange, heldMessage } from './without-held.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { Sha } from '../sha.ts';

/** Finds changes in submodules that only this worktree contains. */
export interface SubmoduleChecks {
  readonly held: (
    context: RepositoryContext,
    worktree: LinkedWorktree,
    status: ParsedStatus,
  ) => Promise<GitResult<readonly PathBytes[]>>;
  /** Checks the given paths of a commit. */
  readonly unpublished: (
    context: RepositoryContext,
    worktree: LinkedWorktree,
    commit: Sha,
    paths: readonly PathBytes[],
  ) => Promise<GitResult<readonly PathBytes[]>>;
}

export interface CommittedRange {
  readonly base: Sha;
  readonly head: Sha;
  readonly maxFileSize: number;
}

export interface HeldInRange {
  readonly held: readonly string[];
  /** For held files, the secret or name because of which their content is held. */
  readonly heldFor: Readonly<Record<string, string>>;
  /** Why the other files are held. */
  readonly causes: Readonly<Record<string, HeldCause>>;
  /** Files held because of a secret in their name or content. */
  readonly secret: readonly string[];
  /** Paths whose name contains a secret. All other texts here omit it. */
  readonly names: SecretNames;
  /** Every path that a commit of the range added, changed or removed. */
  readonly changed: readonly PathBytes[];
}

/**
 * Includes files that a commit added or changed between base and head and a later one removed,
 * because they stay in the history.
 */
export async function heldInCommits(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  range: CommittedRange,
  inSubmodules: SubmoduleChecks,
): Promise<GitResult<HeldInRange>> {
  const listed = await changesOfRange(context, range.base, range.head);
  if (!listed.ok) return listed;
  const { present: paths, removed, blobs } = listed.value;
  if (paths.some(isIgnoreFile)) ignoreRules(context).touched();
  const facts = await factsOfAll(worktree.path, paths);
  const named = paths.filter((path) => context.isHeldName(shown(path)));
  const tooLarge = await largeInRange(context, range, blobs);
  if (!tooLarge.ok) return tooLarge;
  const looked = await secretsInCommits(context, range, blobs, removed);
  if (!looked.ok) return looked;
  const inNames = await secretNames(context, range.base, paths);
  if (!inNames.ok) return inNames;
  const names = inNames.value;
  // A submodule is a folder, or missing if the agent removed it.
  const folders = facts.filter(({ stats }) => stats === null || stats.isDirectory());
  const links = folders.map(({ path }) => path);
  const unpublished = await inSubmodules.unpublished(context, worktree, range.head, links);
  if (!unpublished.ok) return unpublished;
  const asShown = (path: PathBytes): string => shownName(names, path);
  const heldFor = Object.fromEntries([
    ...[...looked.value.files].map(([path, what]) => [asShown(path), what] as const),
    ...[...names.values()].map(({ shownAs, what }) => [shownAs, what] as const),
    ...looked.value.messages.map((what) => [heldMessage, what] as const),
  ]);
  const secret = [...named.map(asShown), ...Object.keys(heldFor)];
  const causes = Object.fromEntries([
    ...named.map((path) => [asShown(path), 'name'] as const),
    ...tooLarge.value.map((path) => [asShown(path), 'size'] as const),
    ...unpublished.value.map((path) => [asShown(path), 'submodule'] as const),
  ]);
  const others = [...tooLarge.value, ...unpublished.value].map(asShown);
  const held = [...new Set([...secret, ...others])];
  const changed = [...paths, ...removed];
  return ok({ held, heldFor, causes, secret: [...new Set(secret)], names, changed });
}

/** Files that the agent merged from a user's branch are not its own. */
async function largeInRange(
  context: RepositoryContext,
  { base, head, maxFileSize }: CommittedRange,
  blobs: ReadonlyMap<PathBytes, ReadonlySet<Sha>>,
): Promise<GitResult<readonly PathBytes[]>> {
  const large = await tooLargeAmong(context, blobs, maxFileSize);
  if (!large.ok) return large;
  if (large.value.size === 0) return ok([]);
  const others = [
    `--exclude=${droverHeadRoot}*`,
    '--glob=refs/heads/*',
    `--exclude=refs/remotes/*/${droverBranchPrefix}*`,
    '--glob=refs/remotes/*',
  ];
  const own = await listEdits(context, [`${base}..${head}`, '--not', ...others]);
  if (!own.ok) return own;
  return ok(own.value.present.filter((path) => large.value.has(path)));
}

async function secretsInCommits(
  context: RepositoryContext,
  { base, head }: CommittedRange,
  blobs: ReadonlyMap<PathBytes, ReadonlySet<Sha>>,
  removed: readonly PathBytes[],
): Promise<GitResult<{ readonly files: SecretPaths; readonly messages: readonly string[] }>> {
  const [inFiles, inMessages] = await Promise.all([
    secretsInRange(context, base, blobs, removed),
    heldInMessages(context, base, head),
  ]);
  if (!inFiles.ok) return inFiles;
  if (!inMessages.ok) return inMessages;
  const messages = inMessages.value === null ? [] : [inMessages.value];
  return ok({ files: inFiles.value, messages });
}
