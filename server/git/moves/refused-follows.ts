// What git has refused because of files in a checkout, it refuses again while nothing about them
// changes. Each try locks the index, and a person's `git add` or `git commit` fails then. So a
// branch that waits for hours must be tried neither every two seconds, nor after each commit.

import { MadeOnce } from '../../core/made-once.ts';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import type { FollowStep } from './cut-follow.ts';
import { factsOf } from '../files/small-files.ts';
import type { WorktreeHead } from '../refs/worktree-heads.ts';

interface Refused {
  readonly files: readonly string[];
  /** Of these files. */
  readonly state: string;
  readonly step: string;
  /** What the step does to these files. */
  readonly changes: string;
  readonly index: string;
  /** What the index says of these files. */
  readonly entries: string;
  readonly reason: string;
  readonly atMs: number;
}

/** The last refusal in each checkout, by its path. */
const refusals = new MadeOnce<RepositoryContext, Map<string, Refused>>();

/** Other things decide as well (ignore rules, settings): after this time, git is asked anyway. */
const againMs = 60_000;

const filesMax = 200;

/** Git's reason from before, if it would give the same again; null: git must be asked. */
export async function refusedBefore(
  context: RepositoryContext,
  owner: WorktreeHead,
  step: FollowStep,
): Promise<string | null> {
  const before = refusals.of(context, () => new Map()).get(owner.path);
  if (before === undefined || Date.now() - before.atMs > againMs) return null;
  const { files, reason } = before;
  if (before.state !== stateOf(owner, files)) return null;
  const isSameStep =
    before.step === nameOf(step) || before.changes === (await changesOf(context, step, files));
  const isSameIndex = async (): Promise<boolean> =>
    before.index === indexOf(owner) ||
    before.entries === (await entriesOf(context, owner.path, files));
  return isSameStep && (await isSameIndex()) ? reason : null;
}

/** `files`: those in the way, as git names them. */
export async function noteRefused(
  context: RepositoryContext,
  owner: WorktreeHead,
  step: FollowStep,
  { files, reason }: { readonly files: readonly string[]; readonly reason: string },
): Promise<void> {
  const known = refusals.of(context, () => new Map());
  known.delete(owner.path);
  const state = stateOf(owner, files);
  if (state === null) return;
  const index = indexOf(owner);
  const entries = await entriesOf(context, owner.path, files);
  const changes = await changesOf(context, step, files);
  if (entries === null || changes === null) return;
  const now = { step: nameOf(step), changes, state, index, entries };
  known.set(owner.path, { files, reason, ...now, atMs: Date.now() });
}

/** Null: not all of it can be seen, as of a file that a person has removed. */
function stateOf(owner: WorktreeHead, files: readonly string[]): string | null {
  if (files.length === 0 || files.length > filesMax) return null;
  const facts = files.map((file) => factsIn(join(owner.path, file)));
  return facts.includes('') ? null : facts.join('\n');
}

function nameOf({ from, to }: FollowStep): string {
  return `${from} ${to}`;
}

/** Null: git cannot tell. */
async function changesOf(
  context: RepositoryContext,
  { from, to }: FollowStep,
  files: readonly string[],
): Promise<string | null> {
  if (from === null) return null;
  const args = ['--literal-pathspecs', 'diff-tree', '-r', '-z', '--no-renames', from, to, '--'];
  const changed = await context.git([...args, ...files]);
  return changed.code === 0 ? changed.stdout.toString('latin1') : null;
}

function indexOf(owner: WorktreeHead): string {
  return factsIn(join(owner.gitDir, 'index'));
}

function factsIn(path: string): string {
  const found = factsOf(path);
  if (found === null) return '';
  return [found.ino, found.size, found.mode, found.mtimeMs, found.ctimeMs].join(' ');
}

/** Null: git cannot tell. */
async function entriesOf(
  context: RepositoryContext,
  path: string,
  files: readonly string[],
): Promise<string | null> {
  const args = ['--literal-pathspecs', 'ls-files', '--stage', '-z', '--', ...files];
  const listed = await context.git(args, { at: path });
  return listed.code === 0 ? listed.stdout.toString('latin1') : null;
}
