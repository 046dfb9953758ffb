// Reads refs from their files if possible. Git moves them, several in one transaction.

import { MadeOnce } from '../../core/made-once.ts';
import { PackedRefs } from './packed-refs.ts';
import { droverRefRoot, headRoot } from '../../core/work/ref-names.ts';
import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, gitFailure, parseLockFile, refuse } from '../failures.ts';
import { waitForOwnLock } from './own-locks.ts';
import type { GitResult } from '../port.ts';
import { readText } from '../../files/small-files.ts';
import { isSha, type Sha } from '../sha.ts';
import { moveRefs, transactionText, type RefChange } from './transactions.ts';

const maxSymbolicSteps = 5;
const packedRefs = new MadeOnce<RepositoryContext, PackedRefs>();

/** Returns a branch name, with or without `refs/heads/`, as a full ref. */
export function branchRef(branch: string): string {
  return branch.startsWith('refs/') ? branch : `${headRoot}${branch}`;
}

/** The parts of a label, each converted for use in the name of a ref. */
export function refParts(label: string): readonly string[] {
  return label
    .split('/')
    .map((part) => part.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/\.\.+|^\.+|\.+$|\.lock$/g, '-'))
    .filter((part) => part !== '');
}

/** The short name of a branch. */
export function branchName(branch: string): string {
  return branch.startsWith(headRoot) ? branch.slice(headRoot.length) : branch;
}

/** True for a short or full branch name that is safe as an argument and as a path. */
export function isBranchName(branch: string): boolean {
  return !branch.startsWith('-') && isFullRef(branchRef(branch));
}

/** True for a full ref that is also safe as a path below the repository's folder. */
export function isFullRef(ref: string): boolean {
  return (
    ref.startsWith('refs/') &&
    !/[\s~^:?*[\\\p{Cc}]|\.\.|@\{|\/\/|\.lock(?:\/|$)|\/\.|[/.]$/u.test(ref)
  );
}

export async function readRef(context: RepositoryContext, ref: string): Promise<Sha | null> {
  if (!isFullRef(ref)) return null;
  if (!context.refsAreFiles) return readRefByGit(context, ref);
  let name = ref;
  for (let step = 0; step < maxSymbolicSteps; step += 1) {
    const content = readRefFile(context, name);
    if (content === null) return null;
    if (isSha(content)) return content;
    if (!content.startsWith('ref: ')) break;
    name = content.slice('ref: '.length).trim();
    if (!isFullRef(name)) return null;
  }
  return readRefByGit(context, ref);
}

/**
 * The ref with the value: `ref` itself, or the end of its chain of symbolic refs (for example if
 * `git symbolic-ref` renamed `main` to `master`). A ref that does not exist is its own end.
 */
export async function finalRef(context: RepositoryContext, ref: string): Promise<string> {
  let name = ref;
  for (let step = 0; step < maxSymbolicSteps && isFullRef(name); step += 1) {
    const next = await symbolicTarget(context, name);
    if (next === null || !isFullRef(next)) return name;
    name = next;
  }
  return name;
}

async function symbolicTarget(context: RepositoryContext, ref: string): Promise<string | null> {
  if (context.refsAreFiles) {
    const content = readText(join(context.commonDir, ref))?.trim() ?? '';
    return content.startsWith('ref: ') ? content.slice('ref: '.length).trim() : null;
  }
  const output = await context.git(['symbolic-ref', '-q', ref]);
  return output.code === 0 ? output.stdout.toString('utf8').trim() : null;
}

/** The loose file wins over the packed one. Reading it again detects packing in between. */
function readRefFile(context: RepositoryContext, ref: string): string | null {
  const loose = (): string | null => readText(join(context.commonDir, ref))?.trim() ?? null;
  const packed = packedRefs.of(context, () => new PackedRefs(context.commonDir));
  return loose() ?? packed.find(ref) ?? loose();
}

async function readRefByGit(context: RepositoryContext, ref: string): Promise<Sha | null> {
  const output = await context.git(['rev-parse', '--verify', '-q', '--end-of-options', ref]);
  const sha = output.stdout.toString('utf8').trim();
  return output.code === 0 && isSha(sha) ? sha : null;
}

export async function resolveRevision(
  context: RepositoryContext,
  revision: string,
): Promise<GitResult<Sha>> {
  const unknown = `"${revision}" does not name a commit in this repository.`;
  if (revision === '' || revision.startsWith('-')) return refuse('unknown_ref', unknown);
  const args = ['rev-parse', '--verify', '-q', '--end-of-options', `${revision}^{commit}`];
  const output = await context.git(args);
  if (output.problem !== null)
    return { ok: false, error: failureOf(output, `resolve ${revision}`) };
  const sha = output.stdout.toString('utf8').trim();
  return output.code === 0 && isSha(sha) ? ok(sha) : refuse('unknown_ref', unknown);
}

/** Checks that all are full ref names and full ids. */
export function checkNames(changes: readonly RefChange[]): GitResult<void> {
  for (const change of changes) {
    if (!isFullRef(change.ref))
      return refuse('failed', `"${change.ref}" is not a full name of a ref.`);
    if ([change.next, change.old].some((sha) => sha !== null && !isSha(sha))) {
      return refuse('failed', `The values of ${change.ref} must be full commit ids.`);
    }
  }
  return ok(undefined);
}

export async function updateRefs(
  context: RepositoryContext,
  changes: readonly RefChange[],
  reason: string,
): Promise<GitResult<void>> {
  if (changes.length === 0) return ok(undefined);
  const named = checkNames(changes);
  if (!named.ok) return named;
  // Git writes the reason into the log, but a persistent process can only have one reason for all.
  const isLogged =
    context.ownRefsAreLogged || !changes.every(({ ref }) => ref.startsWith(droverRefRoot));
  if (!isLogged && (await moveRefs(context.refMoves, changes))) return ok(undefined);
  let output = await writeRefs(context, changes, reason);
  for (let left = changes.length; output.code !== 0 && left > 0; left -= 1) {
    const lock = parseLockFile(output.stderr);
    if (lock === null || !(await waitForOwnLock(context, lock))) break;
    output = await writeRefs(context, changes, reason);
  }
  if (output.code === 0) return ok(undefined);
  const names = changes.map((change) => change.ref).join(', ');
  const error = failureOf(output, `move ${names}`);
  if (error.kind === 'locked' || error.kind === 'disk_full') return { ok: false, error };
  if (await allThere(context, changes)) return ok(undefined);
  const moved = await someoneWasFirst(context, changes);
  return {
    ok: false,
    error: moved ? gitFailure('stale', `${moved} was just moved by someone else.`) : error,
  };
}

async function writeRefs(
  context: RepositoryContext,
  changes: readonly RefChange[],
  reason: string,
): ReturnType<RepositoryContext['git']> {
  return context.git(['update-ref', '-m', textOf(reason), '--stdin', '-z'], {
    input: transactionText(changes),
  });
}

function textOf(reason: string): string {
  return toSingleLine(reason) || 'drover';
}

async function allThere(
  context: RepositoryContext,
  changes: readonly RefChange[],
): Promise<boolean> {
  for (const change of changes) {
    if ((await readRef(context, change.ref)) !== change.next) return false;
  }
  return true;
}

async function someoneWasFirst(
  context: RepositoryContext,
  changes: readonly RefChange[],
): Promise<string | null> {
  for (const change of changes) {
    if (change.next === null && change.old === null) continue;
    if ((await readRef(context, change.ref)) !== change.old) return change.ref;
  }
  return null;
}

/** Converts text by a person or an agent to one line without control characters. */
export function toSingleLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
