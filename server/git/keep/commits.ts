// Commits an agent's uncommitted files to its attempt's branch, and lists files that must never be
// committed.

import { join } from 'node:path';
import { touchedPaths } from '../ask/touched-paths.ts';
import { err, ok } from '../../core/failure.ts';
import { isLeftOutByGit, whyNotPortable } from '../../core/plan/portable-names.ts';
import type { HeldCause } from '../../core/plan/verdict.ts';
import { protectedAmong } from '../../core/plan/protected-paths.ts';
import { smallAsStored } from '../ask/committed-sizes.ts';
import { commitEntries } from './commit-entries.ts';
import { unportableNames, type UnportableNames } from '../ask/added-names.ts';
import { attachToBranch, isOnBranch, type Standing } from './attach.ts';
import type { RepositoryContext } from '../context.ts';
import { cannotRead, failureOf, gitFailure } from '../failures.ts';
import { secretsInFiles } from './held-contents.ts';
import { heldInCommits, type SubmoduleChecks } from './held-commits.ts';
import { newLinksOut } from './held-links.ts';
import { secretNames, type SecretNames, shownName } from './held-names.ts';
import { ignoreRules, isIgnoreFile } from '../ask/ignore-rules.ts';
import { concludable } from './leftover-operations.ts';
import { merge } from '../ask/merges.ts';
import { ownWorktree } from './own-worktree.ts';
import { shown, splitZero, zeroEnded, type PathBytes } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { branchRef, isBranchName, readRef, updateRefs } from '../refs/refs.ts';
import { readTree } from '../ask/ancestry.ts';
import { keepDropped } from './dropped-commits.ts';
import { slotStatus } from './setup-note.ts';
import { isNestedRepository, type ParsedStatus, type StatusEntry } from '../ask/status-format.ts';
import { factsOfAll } from '../../files/small-files.ts';
import { keepStashes } from './shared-leavings.ts';
import { waitForOwnLock } from '../refs/own-locks.ts';
import { waitForStaleLocks } from '../refs/stale-locks.ts';
import { ignoreFolderLinks } from './ignored-links.ts';
import { keepIgnored } from './ignored-results.ts';
import { hasStarted } from './work-start.ts';
import { keepCommit, labelOfBranch, readSnapshot, workRef } from './work-chain.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { Sha } from '../sha.ts';
import type { CommitLeftoversOutcome, CommitLeftoversRequest } from '../slot-port.ts';

export async function commitLeftovers(
  context: RepositoryContext,
  request: CommitLeftoversRequest,
  inSubmodules: SubmoduleChecks,
): Promise<GitResult<CommitLeftoversOutcome>> {
  if (!isBranchName(request.branch)) {
    return err(gitFailure('failed', `"${request.branch}" cannot be the name of a branch.`));
  }
  const left = await whatIsLeft(context, request);
  if (!left.ok) return left;
  const done = await commitLeft(context, request, left.value, inSubmodules);
  if (!done.ok) return done;
  const { worktree, status } = left.value;
  const tip = done.value.commit;
  const ignored = await keepIgnored(context, worktree, status, { ...request, tip });
  if (!ignored.ok) return ignored;
  const links = await linksHeld(context, request, tip);
  if (!links.ok) return links;
  const { held, heldCauses = {}, ...rest } = done.value;
  return ok({
    ...rest,
    held: [...new Set([...held, ...Object.keys(links.value)])].sort(),
    heldCauses: { ...heldCauses, ...links.value },
    ...(ignored.value === null ? {} : { ignored: ignored.value }),
  });
}

async function commitLeft(
  context: RepositoryContext,
  request: CommitLeftoversRequest,
  { worktree, status }: Left,
  inSubmodules: SubmoduleChecks,
): Promise<GitResult<CommitLeftoversOutcome>> {
  const operation = await concludable(context, worktree, status, request.branch);
  if (!operation.ok) return operation;
  const attached: GitResult<Standing> =
    status.head !== null && isOnBranch(status, request.branch)
      ? ok({ head: status.head, mergeInto: null })
      : await attachToBranch(context, worktree, status, request);
  if (!attached.ok) return attached;
  const standing = attached.value;

  const entries = status.entries.filter((entry) => entry.kind !== 'ignored');
  const submodules = await inSubmodules.held(context, worktree, status);
  if (!submodules.ok) return submodules;
  const inside = new Set(submodules.value);
  const byFacts = await heldEntries(context, worktree, entries, request.maxFileSize, inside);
  const byContent = await heldByContent(context, worktree, request.base, entries, byFacts);
  if (!byContent.ok) return byContent;
  const { held, heldFor } = heldWith(byFacts, byContent.value, entries);
  let { names } = byContent.value;
  const unstaged = await unstage(context, worktree, [...held]);
  if (!unstaged.ok) return unstaged;
  const leftovers = entries.filter((entry) => !held.has(entry));
  let tip = standing.mergeInto ?? standing.head;
  if (leftovers.length > 0 || operation.value?.kind === 'merge') {
    const committed = await commitEntries(context, worktree, leftovers, request);
    if (!committed.ok) return committed;
    const placed = await placeOnBranch(context, request, standing, committed.value);
    if (!placed.ok) return placed;
    tip = placed.value;
    if (operation.value === null) noteTouched(context, request.base, standing, tip, leftovers);
  }
  const touched = entries.map(({ path }) => path);
  const heldPaths = [...held].map(({ path }) => path).concat(...inside);
  const heldNames = new Set(heldPaths.map((path) => shownName(names, path)));
  const heldCauses = causesByName(names, byFacts, inside);
  const before = standing.mergeInto ?? standing.head;
  const committedSecrets: string[] = [];
  if (before !== request.base) {
    const range = { base: request.base, head: before, maxFileSize: request.maxFileSize };
    const inCommits = await heldInCommits(context, worktree, range, inSubmodules);
    if (!inCommits.ok) return inCommits;
    for (const name of inCommits.value.held) heldNames.add(name);
    names = new Map([...names, ...inCommits.value.names]);
    Object.assign(heldFor, inCommits.value.heldFor);
    Object.assign(heldCauses, inCommits.value.causes);
    committedSecrets.push(...inCommits.value.secret);
    touched.push(...inCommits.value.changed);
  }
  if (touchedPaths(context).by(tip) === null)
    touchedPaths(context).note(null, tip, touched.map(shown));
  const guarded = await protectedChanges(context, { touched, names }, tip, request);
  if (!guarded.ok) return guarded;
  if (entries.some((entry) => isIgnoreFile(entry.path))) ignoreRules(context).touched();
  const unportable = await heldForNames(context, request, { tip, touched }, heldPaths);
  if (!unportable.ok) return unportable;
  const tree = (await context.objects.commit(tip))?.tree ?? null;
  const changed = await isChange(context, request.base, { before, tip, tree });
  const aside = !changed && (await hasPutAside(context, request.branch));
  const reasons = { heldFor, heldCauses, committedSecrets };
  const allHeld = { ...heldAlso(heldNames, unportable.value), ...reasons };
  const told = { ...allHeld, protected: guarded.value, ...(aside && { aside }) };
  return ok({ commit: tip, tree, changed, ...told });
}

function causesByName(
  names: SecretNames,
  byFacts: ReadonlyMap<StatusEntry, HeldCause>,
  inside: ReadonlySet<PathBytes>,
): Record<string, HeldCause> {
  return Object.fromEntries([
    ...[...inside].map((path) => [shownName(names, path), 'submodule'] as const),
    ...[...byFacts].map(([{ path }, cause]) => [shownName(names, path), cause] as const),
  ]);
}

async function linksHeld(
  context: RepositoryContext,
  { base, linksAllowed: allowed }: CommitLeftoversRequest,
  tip: Sha,
): Promise<GitResult<Readonly<Record<string, HeldCause>>>> {
  if (allowed === undefined) return ok({});
  const found = await newLinksOut(context, { base, tip, allowed });
  if (!found.ok) return found;
  const causes = [...found.value].map(
    ([path, to]) => [shown(path), { target: shown(to) }] as const,
  );
  return ok(Object.fromEntries(causes));
}

interface Left {
  readonly worktree: LinkedWorktree;
  readonly status: ParsedStatus;
}

/** The state of the slot after everything that the agent left outside of its files is kept. */
async function whatIsLeft(
  context: RepositoryContext,
  { path, branch }: CommitLeftoversRequest,
): Promise<GitResult<Left>> {
  const found = await ownWorktree(context, path);
  if (!found.ok) return found;
  const worktree = found.value;
  await waitForStaleLocks(worktree, context.staleLockMs);
  await waitForOwnLock(context, join(context.commonDir, `${branchRef(branch)}.lock`));
  const stashes = await keepStashes(context, branch);
  if (!stashes.ok) return stashes;
  const listed = await slotStatus(context, worktree, { ignored: hasStarted(worktree) });
  const status = listed.ok ? await ignoreFolderLinks(context, worktree, listed.value) : listed;
  if (!status.ok) return status;
  const { head, unreadable } = status.value;
  if (unreadable.length > 0) return err(cannotRead(worktree.path, unreadable));
  const dropped = await keepDropped(context, worktree, head, labelOfBranch(branch));
  return dropped.ok ? ok({ worktree, status: status.value }) : dropped;
}

/** An agent's own commits (up to `before`) that change nothing are not work. */
async function isChange(
  context: RepositoryContext,
  base: Sha,
  { before, tip, tree }: { readonly before: Sha; readonly tip: Sha; readonly tree: Sha | null },
): Promise<boolean> {
  if (tip === base || before === base) return tip !== base;
  const found = await readTree(context, base);
  return !found.ok || found.value !== tree;
}

/** Called only if the agent made no commits, because its own commits may revert others' work. */
function noteTouched(
  context: RepositoryContext,
  base: Sha,
  standing: Standing,
  tip: Sha,
  entries: readonly StatusEntry[],
): void {
  if (standing.head !== base || standing.mergeInto !== null) return;
  const paths = new Set(entries.map(({ path }) => shown(path)));
  touchedPaths(context).note(base, tip, [...paths].sort());
}

/**
 * Whether the agent left work in a stash or on another branch, which its last snapshot contains.
 */
async function hasPutAside(context: RepositoryContext, branch: string): Promise<boolean> {
  const last = await readRef(context, workRef(labelOfBranch(branch)));
  if (last === null) return false;
  const facts = await readSnapshot(context, last);
  return facts.ok && facts.value.reason === 'kept' && facts.value.author === 'agent';
}

/** Reverted changes do not count, so git is asked again only if a path matches. */
async function protectedChanges(
  context: RepositoryContext,
  { touched, names }: { readonly touched: readonly PathBytes[]; readonly names: SecretNames },
  tip: Sha,
  { base, protect = [] }: CommitLeftoversRequest,
): Promise<GitResult<readonly string[]>> {
  const named = protectedAmong([...new Set(touched)].map(shown), protect);
  if (named.length === 0 || tip === base) return ok([]);
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', base, tip];
  const output = await context.git(args);
  if (output.code !== 0) return err(failureOf(output, `compare ${base} with ${tip}`));
  // A name with a secret holds the file anyway, and must not be printed.
  const changed = splitZero(output.stdout).filter((path) => !names.has(path));
  return ok([...protectedAmong(changed.map(shown), protect)].sort());
}

/**
 * If HEAD was behind the branch, merges the new commit into it. Otherwise the commit is already the
 * tip.
 */
async function placeOnBranch(
  context: RepositoryContext,
  request: CommitLeftoversRequest,
  standing: Standing,
  committed: Sha | null,
): Promise<GitResult<Sha>> {
  const tip = standing.mergeInto;
  if (committed === null) return ok(tip ?? standing.head);
  if (tip === null) return ok(committed);
  const { subject, trailers } = request;
  const merged = await merge(context, { tip, commit: committed, subject, trailers });
  if (!merged.ok) return merged;
  if (merged.value.kind === 'conflict') {
    const kept = await keepCommit(context, committed, labelOfBranch(request.branch), 'agent');
    if (!kept.ok) return kept;
    const message =
      `The agent left changes on an older commit that conflict with its own later work in ` +
      `${merged.value.files.join(', ')}; they are kept under ${kept.value ?? committed}.`;
    return err(gitFailure('failed', message, true));
  }
  const next = merged.value.commit;
  const change = { ref: branchRef(request.branch), next, old: tip };
  const moved = await updateRefs(context, [change], 'drover: leftovers');
  return moved.ok ? ok(next) : moved;
}

/**
 * Existing files that must not be committed because of their name or size, or because they are
 * nested repositories. `inside`: submodules.
 */
async function heldEntries(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  entries: readonly StatusEntry[],
  maxFileSize: number,
  inside: ReadonlySet<PathBytes>,
): Promise<ReadonlyMap<StatusEntry, HeldCause>> {
  const facts = await factsOfAll(
    worktree.path,
    entries.map((entry) => entry.path),
  );
  const isFile = (index: number): boolean => facts[index]?.stats?.isDirectory() === false;
  const isLarge = (index: number): boolean =>
    isFile(index) && (facts[index]?.stats?.size ?? 0) > maxFileSize;
  const large = entries.filter((_, index) => isLarge(index)).map(({ path }) => path);
  const pointers = await smallAsStored(context, worktree, large, maxFileSize);
  const causeOf = (entry: StatusEntry, index: number): HeldCause | null => {
    if (inside.has(entry.path)) return 'submodule';
    if (isNestedRepository(entry)) return 'repository';
    // The name explains it (see `unportable`).
    if (isLeftOutByGit(shown(entry.path))) return 'name';
    if (!isFile(index)) return null;
    if (context.isHeldName(shown(entry.path))) return 'name';
    return isLarge(index) && !pointers.has(entry.path) ? 'size' : null;
  };
  return new Map(
    entries.flatMap((entry, index) => {
      const cause = causeOf(entry, index);
      return cause === null ? [] : [[entry, cause] as const];
    }),
  );
}

function heldAlso(
  held: ReadonlySet<string>,
  unportable: UnportableNames,
): Pick<CommitLeftoversOutcome, 'held' | 'unportable'> {
  return { held: [...new Set([...held, ...Object.keys(unportable)])].sort(), unportable };
}

/** Names that git would silently omit, and new names that some systems cannot check out. */
async function heldForNames(
  context: RepositoryContext,
  { base, portableNames }: CommitLeftoversRequest,
  { tip, touched }: { readonly tip: Sha; readonly touched: readonly PathBytes[] },
  held: readonly PathBytes[],
): Promise<GitResult<UnportableNames>> {
  const leftOut = held.map(shown).filter(isLeftOutByGit);
  const names = leftOut.map((path) => [path, whyNotPortable(path) ?? ''] as const);
  const found =
    portableNames === true ? await unportableNames(context, base, tip, touched.map(shown)) : ok({});
  return found.ok ? ok({ ...Object.fromEntries(names), ...found.value }) : found;
}

interface HeldByContent {
  readonly contents: ReadonlyMap<StatusEntry, string>;
  /** Names of all files, including files held for another reason, because those are listed. */
  readonly names: SecretNames;
}

/** Files with a secret that are not held for another reason, and secrets in file names. */
async function heldByContent(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  base: Sha,
  entries: readonly StatusEntry[],
  held: ReadonlyMap<StatusEntry, HeldCause>,
): Promise<GitResult<HeldByContent>> {
  const asked = new Map<PathBytes, StatusEntry>();
  for (const entry of entries) if (!held.has(entry)) asked.set(entry.path, entry);
  const paths = [...asked.keys()];
  // A missing file may exist under another name.
  const facts = await factsOfAll(worktree.path, paths);
  const removed = facts.filter(({ stats }) => stats === null).map(({ path }) => path);
  const found = await secretsInFiles(context, worktree.path, base, { present: paths, removed });
  if (!found.ok) return found;
  const pairs = [...found.value].flatMap(([path, what]) => {
    const entry = asked.get(path);
    return entry === undefined ? [] : [[entry, what] as const];
  });
  const gone = new Set(removed);
  const present = entries.map(({ path }) => path).filter((path) => !gone.has(path));
  const names = await secretNames(context, base, present);
  return names.ok ? ok({ contents: new Map(pairs), names: names.value }) : names;
}

/** All held files, with the reason if the file does not show it. */
function heldWith(
  byFacts: ReadonlyMap<StatusEntry, HeldCause>,
  { contents, names }: HeldByContent,
  entries: readonly StatusEntry[],
): { readonly held: ReadonlySet<StatusEntry>; readonly heldFor: Record<string, string> } {
  const byName = entries.flatMap((entry) => {
    const found = names.get(entry.path);
    return found === undefined ? [] : [[entry, found.what] as const];
  });
  const reasons = [...contents, ...byName];
  return {
    held: new Set([...byFacts.keys(), ...reasons.map(([entry]) => entry)]),
    heldFor: Object.fromEntries(
      reasons.map(([entry, what]) => [shownName(names, entry.path), what]),
    ),
  };
}

/** Unstages held files that the agent staged, without changing them on disk. */
async function unstage(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  held: readonly StatusEntry[],
): Promise<GitResult<void>> {
  const staged = held.filter((entry) => entry.kind === 'changed' && entry.index !== '.');
  if (staged.length === 0) return ok(undefined);
  const output = await context.git(
    ['--literal-pathspecs', 'reset', '-q', '--pathspec-from-file=-', '--pathspec-file-nul'],
    { at: worktree.path, input: zeroEnded(staged.map((entry) => entry.path)) },
  );
  return output.code === 0 ? ok(undefined) : err(failureOf(output, 'unstage files that are held'));
}
