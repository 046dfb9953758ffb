// Moves the checkout of a branch forward with git's own merge, or returns why git refuses.

import { join } from 'node:path';
import { quoted } from '../../core/format.ts';
import { MadeOnce } from '../../core/made-once.ts';
import type { WrongFiles } from '../../core/work/wrong-state.ts';
import type { RepositoryContext } from '../context.ts';
import { asBytes } from '../../files/path-bytes.ts';
import { exists, lstatOrNull } from '../../files/small-files.ts';
import { settings } from '../git-command.ts';
import { parseLockFile } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { branchName, readRef } from '../refs/refs.ts';
import type { WorktreeHead } from '../refs/worktree-heads.ts';
import { isBeadsAlone, pastBeads } from './beads-checkout.ts';
import { inspectCheckout } from './look.ts';
import type { FollowStep } from './names.ts';
import { takeOnWritten } from './written-files.ts';

/** Keeps the uncommitted state of a user's checkout. */
export type KeepCheckout = (checkout: WorktreeHead) => Promise<GitResult<void>>;

/** `stale`: the branch has moved. */
export type CheckoutMove =
  | { readonly kind: 'moved'; readonly wrong: WrongFiles | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'stale' };

/** Why the checkouts of the branch must not be touched now; null if they may. */
export function findObstacle(
  context: RepositoryContext,
  ref: string,
  owners: readonly WorktreeHead[],
  mode: 'fast-forward' | 'never',
): string | null {
  const name = branchName(ref);
  const [owner, second] = owners;
  if (!owner) return null;
  if (mode === 'never') {
    return `${name} is checked out in ${owner.path}, and checkout.follow is "never".`;
  }
  if (second) return `${name} is checked out twice, in ${owner.path} and ${second.path}.`;
  if (!exists(owner.path)) {
    return `${name} belongs to the worktree ${owner.path}, whose folder does not exist. Run "git worktree prune".`;
  }
  if (owner.operation && owner.operation.kind !== 'bisect') {
    const { kind } = owner.operation;
    return `A ${kind} is unfinished in ${owner.path}. Finish it, or run "git ${kind} --abort" there.`;
  }
  for (const lock of [join(owner.gitDir, 'index.lock'), join(context.commonDir, `${ref}.lock`)]) {
    if (exists(lock)) return inUse(owner.path, lock);
  }
  return null;
}

export async function moveCheckout(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  step: FollowStep,
  keep: KeepCheckout,
): Promise<CheckoutMove> {
  const known = refusals.of(context, () => new Map()).get(owner.path);
  if (known !== undefined && isAsBefore(known, owner, step))
    return { kind: 'refused', reason: known.reason };
  const kept = await keep(owner);
  if (!kept.ok) return { kind: 'refused', reason: kept.error.message };
  // A snapshot takes time, and the user may have moved the branch back since.
  if ((await readRef(context, ref)) !== step.from) return { kind: 'stale' };
  const said = await mergeForward(context, ref, owner, step);
  const present = await readRef(context, ref);
  if (present === step.to)
    return { kind: 'moved', wrong: await inspectCheckout(context, owner, step, present) };
  if (present !== step.from) return { kind: 'stale' };
  const files = filesInTheWay(said);
  const reason = refusalReason(said, owner.path);
  if (parseLockFile(said) !== null) return { kind: 'refused', reason };
  const state = stateOf(owner, step, files);
  refusals.of(context, () => new Map()).set(owner.path, { files, reason, state, atMs: Date.now() });
  return { kind: 'refused', reason };
}

/** Merges the step into the checkout. Returns the message that git printed. */
async function mergeForward(
  context: RepositoryContext,
  ref: string,
  owner: WorktreeHead,
  step: FollowStep,
): Promise<string> {
  let said = await merge(context, owner, step);
  // Git names changed files first, and untracked files only if no file is changed.
  for (let tries = 1; tries <= 2 && filesInTheWay(said).length > 0; tries += 1) {
    const written = await takeOnWritten(context, owner.path, step);
    if (!filesInTheWay(said).every((file) => written.has(asBytes(file)))) break;
    said = await merge(context, owner, step);
  }
  const inTheWay = filesInTheWay(said);
  if (!isBeadsAlone(inTheWay)) return said;
  await pastBeads(context, owner.path, step, inTheWay, async () => {
    await merge(context, owner, step);
    return (await readRef(context, ref)) === step.to;
  });
  return said;
}

async function merge(
  context: RepositoryContext,
  { path: at }: WorktreeHead,
  { to }: FollowStep,
): Promise<string> {
  // Without the last option, git overwrites ignored files such as the user's `.env`.
  const how = ['-q', '--no-stat', '--ff-only', '--no-overwrite-ignore'];
  const output = await context.git([...mergeSettings, 'merge', ...how, to], {
    at,
    waitForLocks: false,
  });
  return output.stderr;
}

const mergeSettings = settings({
  'merge.autoStash': 'false',
  'merge.verifySignatures': 'false',
});

/** A refusal that git would repeat until one of these changes. A try briefly locks the index. */
interface Refusal {
  readonly files: readonly string[];
  readonly reason: string;
  readonly state: string;
  readonly atMs: number;
}

/** The last refusal of each checkout, by path. */
const refusals = new MadeOnce<RepositoryContext, Map<string, Refusal>>();
/**
 * After this time git is tried again, because its answer also depends on ignore rules and settings.
 */
const againMs = 30_000;

function isAsBefore(known: Refusal, owner: WorktreeHead, step: FollowStep): boolean {
  return Date.now() - known.atMs < againMs && known.state === stateOf(owner, step, known.files);
}

/** The state of the blocking files and of the index. */
function stateOf(owner: WorktreeHead, step: FollowStep, files: readonly string[]): string {
  const paths = [join(owner.gitDir, 'index'), ...files.map((file) => join(owner.path, file))];
  const facts = paths.map((path) => {
    const found = lstatOrNull(path);
    return found === null ? '' : [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ');
  });
  return [step.from, step.to, ...facts].join('\n');
}

/** Git lists them on lines that start with a tab. */
function filesInTheWay(stderr: string): readonly string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('\t'))
    .map((line) => line.trim());
}

const maxNamedFiles = 5;

/** Parses the output of `git merge --ff-only`. */
export function refusalReason(stderr: string, checkout: string): string {
  const lock = parseLockFile(stderr);
  if (lock !== null) return inUse(checkout, lock);
  const files = filesInTheWay(stderr);
  if (files.length > 0) {
    const more = files.length > maxNamedFiles ? ` and ${files.length - maxNamedFiles} more` : '';
    const named = `${files.slice(0, maxNamedFiles).join(', ')}${more}`;
    return /untracked working tree/i.test(stderr)
      ? `Files that are not in git in ${checkout} are in the way: ${named}. Move or remove them.`
      : `Local changes in ${checkout} are in the way: ${named}. Commit or stash them.`;
  }
  const line = stderr.split('\n').find((each) => /^(?:fatal|error):/.test(each));
  return `Git refused to update ${checkout}: ${line?.replace(/^(?:fatal|error): /, '') ?? 'it gave no reason'}`;
}

function inUse(checkout: string, lock: string): string {
  return `Git is running in ${checkout} (${lock} exists). If no git process is running, run "rm ${quoted(lock)}".`;
}
