// The snapshots of one attempt: commits under one ref, each with the previous one as a parent, so
// that none is ever lost.

import { makeCommit } from '../ask/make-commit.ts';
import { workRoot } from '../../core/work/ref-names.ts';
import { err, ok } from '../../core/failure.ts';
import { isAncestor, readTree } from '../ask/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, gitFailure } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { Snapshot, SnapshotAuthor, SnapshotReason } from '../snapshot-port.ts';
import { toSingleLine, readRef, refParts, updateRefs } from '../refs/refs.ts';
import { isSha, type Sha } from '../sha.ts';

/** The content of a worktree as git objects. */
export interface WorkState {
  /** All files that git does not ignore. */
  readonly tree: Sha;
  /** Null before the branch's first commit. */
  readonly head: Sha | null;
  /** Full ref of the checked-out branch; null if HEAD is detached. */
  readonly branch: string | null;
  /**
   * The tree of the index if it differs from HEAD's. Null otherwise, and if the index has
   * conflicts.
   */
  readonly indexTree: Sha | null;
}

export interface SnapshotNote {
  /** `<task>/<attempt>`, or the name of a slot without a known attempt. */
  readonly label: string;
  /** Absent = the ref of the label. */
  readonly ref?: string | undefined;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  readonly worktree: string | null;
  /** Files that could not be kept: too large, or nested repositories. */
  readonly skipped: readonly string[];
  /** Commits that only this worktree refers to: a stash, the other side of a merge. */
  readonly alongside: readonly Sha[];
}

const maxNamedSkips = 100;
/** How often to retry if another process writes to the same chain. */
const racesMax = 5;

/** The ref with the snapshots of an attempt. */
export function workRef(label: string): string {
  const parts = refParts(label);
  const [first = 'unnamed', ...rest] = parts;
  return rest.length === 0 ? `${workRoot}slots/${first}` : `${workRoot}${first}/${rest.join('-')}`;
}

/** The task and attempt in the name of one of our branches, or the name itself. */
export function labelOfBranch(branch: string): string {
  return branch.replace(/^refs\/heads\//, '').replace(/^drover\//, '');
}

/** Appends a state to its chain. Returns the end of the chain if that already has the state. */
export async function appendSnapshot(
  context: RepositoryContext,
  state: WorkState,
  note: SnapshotNote,
): Promise<GitResult<Snapshot>> {
  const ref = note.ref ?? workRef(note.label);
  return context.inTurn(ref, async () => {
    for (let race = 1; ; race += 1) {
      const previous = await readRef(context, ref);
      if (previous !== null && (await holdsState(context, previous, state, note))) {
        return ok({ ref, commit: previous, isNew: false });
      }
      const commit = await commitOnto(context, state, note, previous);
      if (!commit.ok) return commit;
      const change = { ref, next: commit.value, old: previous };
      const moved = await updateRefs(context, [change], 'drover: snapshot');
      if (moved.ok) return ok({ ref, commit: commit.value, isNew: true });
      if (moved.error.kind !== 'stale' || race === racesMax) return moved;
    }
  });
}

/** Keeps a commit that may not be on a branch. Returns null if a ref already contains it. */
export async function keepCommit(
  context: RepositoryContext,
  sha: Sha,
  label: string,
  author: SnapshotAuthor = 'unknown',
): Promise<GitResult<string | null>> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${sha}`];
  const holders = await context.git(args);
  if (holders.code === 0 && holders.stdout.length > 0) return ok(null);
  return chainCommit(context, sha, label, author);
}

/**
 * Like `keepCommit`, even if a branch contains the commit now, because that branch may be about to
 * move.
 */
export async function chainCommit(
  context: RepositoryContext,
  sha: Sha,
  label: string,
  author: SnapshotAuthor = 'unknown',
  reason: SnapshotReason = 'kept',
): Promise<GitResult<string>> {
  const ref = workRef(label);
  const last = await readRef(context, ref);
  if (last !== null && (await isAncestor(context, sha, last))) return ok(ref);
  const tree = await readTree(context, sha);
  if (!tree.ok) return tree;
  const kept = await appendSnapshot(
    context,
    { tree: tree.value, head: sha, branch: null, indexTree: null },
    { label, reason, author, worktree: null, skipped: [], alongside: [] },
  );
  return kept.ok ? ok(kept.value.ref) : kept;
}

function keyOf(state: WorkState, { alongside }: SnapshotNote): string {
  return [state.tree, state.head, state.branch, state.indexTree, ...alongside].join(' ');
}

async function holdsState(
  context: RepositoryContext,
  tip: Sha,
  state: WorkState,
  note: SnapshotNote,
): Promise<boolean> {
  const facts = await readSnapshot(context, tip);
  if (!facts.ok) return false;
  const key = keyOf(facts.value, { ...note, alongside: facts.value.alongside });
  return key === keyOf(state, note);
}

/** If the end of the chain was pruned, the chain starts over. */
async function commitOnto(
  context: RepositoryContext,
  state: WorkState,
  note: SnapshotNote,
  previous: Sha | null,
): Promise<GitResult<Sha>> {
  const commit = await commitState(context, state, note, previous);
  if (commit.ok || previous === null) return commit;
  const found = await context.objects.read(previous);
  const isGone = found.ok && found.value === null;
  return isGone ? commitState(context, state, note, null) : commit;
}

async function commitState(
  context: RepositoryContext,
  state: WorkState,
  note: SnapshotNote,
  previous: Sha | null,
): Promise<GitResult<Sha>> {
  const parents: Sha[] = [];
  if (state.head !== null) parents.push(state.head);
  if (previous !== null) parents.push(previous);
  if (state.indexTree !== null && state.indexTree !== state.tree) {
    const base = state.head === null ? [] : [state.head];
    const index = { tree: state.indexTree, parents: base, message: 'drover: what was staged\n' };
    const staged = await makeCommit(context, index, 'make a snapshot');
    if (!staged.ok) return staged;
    parents.push(staged.value);
  }
  parents.push(...note.alongside.filter((sha) => !parents.includes(sha)));
  const message = messageFor(state, note, previous);
  return makeCommit(context, { tree: state.tree, parents, message }, 'make a snapshot');
}

function messageFor(state: WorkState, note: SnapshotNote, previous: Sha | null): string {
  const line = (key: string, value: string | null): string[] =>
    value === null ? [] : [`Drover-${key}: ${toSingleLine(value)}`];
  const skipped =
    note.skipped.length === 0
      ? []
      : [
          'Not in this commit (too large, or repositories of their own):',
          ...note.skipped.slice(0, maxNamedSkips).map((path) => `  ${toSingleLine(path)}`),
          '',
        ];
  return [
    `drover: snapshot of ${toSingleLine(note.label)} (${note.reason})`,
    '',
    ...skipped,
    ...line('Snapshot', note.label),
    ...line('Reason', note.reason),
    ...line('Author', note.author),
    ...line('Worktree', note.worktree),
    ...line('Head', state.head),
    ...line('Branch', state.branch),
    ...line('Index', state.indexTree),
    ...line('Previous', previous),
    ...note.alongside.flatMap((sha) => line('Alongside', sha)),
    '',
  ].join('\n');
}

export interface SnapshotFacts extends WorkState {
  readonly commit: Sha;
  readonly label: string;
  readonly reason: SnapshotReason;
  readonly author: SnapshotAuthor;
  readonly timeMs: number;
  readonly previous: Sha | null;
  readonly alongside: readonly Sha[];
}

export async function readSnapshot(
  context: RepositoryContext,
  commit: Sha,
): Promise<GitResult<SnapshotFacts>> {
  const found = await context.objects.read(commit);
  if (!found.ok) return err(failureOf(found.error, `read the snapshot ${commit}`));
  const text = found.value?.kind === 'commit' ? found.value.content.toString('utf8') : '';
  const facts = parseSnapshot(commit, text);
  return facts === null
    ? err(gitFailure('unknown_ref', `${commit} is not a snapshot.`))
    : ok(facts);
}

/** Parses the text of a commit object. Returns null if it is not a snapshot. */
export function parseSnapshot(commit: Sha, text: string): SnapshotFacts | null {
  const split = text.indexOf('\n\n');
  const header = text.slice(0, split);
  const body = text.slice(split + 2);
  const values = (key: string): string[] =>
    [...body.matchAll(new RegExp(`^Drover-${key}: (.*)$`, 'gm'))].map((match) => match[1] ?? '');
  const shaOf = (key: string): Sha | null => values(key).find(isSha) ?? null;
  const label = values('Snapshot')[0];
  const tree = /^tree ([0-9a-f]+)$/m.exec(header)?.[1];
  if (label === undefined || tree === undefined) return null;
  const seconds = Number(/^committer .* (\d+) [+-]\d+$/m.exec(header)?.[1] ?? 0);
  return {
    commit,
    label,
    reason: (values('Reason')[0] ?? 'kept') as SnapshotReason,
    author: (values('Author')[0] ?? 'unknown') as SnapshotAuthor,
    timeMs: seconds * 1000,
    tree,
    head: shaOf('Head'),
    branch: values('Branch')[0] ?? null,
    indexTree: shaOf('Index'),
    previous: shaOf('Previous'),
    alongside: values('Alongside').filter(isSha),
  };
}
