// What an agent without a sandbox leaves in the git folder that all worktrees share: stashes of its
// work, and settings that would be the person's from then on. Both are found by files alone, so
// that an attempt that leaves nothing costs nothing.

import { MadeOnce } from '../../core/made-once.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import type { GitResult } from '../port.ts';
import { isSha } from '../files/loose-objects.ts';
import { readText } from '../files/small-files.ts';
import { personStashes, returnStashes, type StashesBefore } from './person-stashes.ts';
import { chainCommit, labelOfBranch } from './work-chain.ts';
import type { Sha } from '../sha.ts';

/**
 * Keys that decide who the next commit of the person is by, or whether their checkout works at all.
 */
const guardedKeys: ReadonlySet<string> = new Set([
  'user.name',
  'user.email',
  'author.name',
  'author.email',
  'committer.name',
  'committer.email',
  'core.bare',
  'core.worktree',
]);

/** The shared configuration as it was when a slot was prepared, by the slot's path. */
const configBefore = new MadeOnce<RepositoryContext['snapshotStates'], Map<string, string>>();

function configTexts(context: RepositoryContext): Map<string, string> {
  return configBefore.of(context.snapshotStates, () => new Map());
}

function configText(context: RepositoryContext): string {
  try {
    return readFileSync(join(context.commonDir, 'config'), 'latin1');
  } catch {
    return '';
  }
}

const stashesBefore = new MadeOnce<RepositoryContext['snapshotStates'], StashesBefore>();

function stashesOf(context: RepositoryContext): StashesBefore {
  return stashesBefore.of(context.snapshotStates, () => new Map());
}

/** Call before an agent starts in the slot. */
export function noteShared(context: RepositoryContext, path: string): void {
  configTexts(context).set(path, configText(context));
  stashesOf(context).set(path, personStashes(context));
}

/**
 * Call after the agent of an attempt has ended. Stashes made on the attempt's branch become part of
 * its snapshots and leave the person's list; the person's that it has taken are back in it;
 * identity and `core.bare` get their former values where the attempt changed them. Resolves with
 * files that still hold something of the person's stashes.
 */
export async function takeFromShared(
  context: RepositoryContext,
  path: string,
  branch: string,
): Promise<GitResult<readonly string[]>> {
  await restoreGuardedKeys(context, path);
  const kept = await keepStashes(context, branch);
  if (!kept.ok) return kept;
  const before = stashesOf(context).get(path) ?? [];
  stashesOf(context).delete(path);
  return ok(before.length === 0 ? [] : await returnStashes(context, path, before));
}

/** Stashes of one attempt that are taken off the list. */
const stashesMax = 50;

/** Stashes made on the attempt's branch that are in the list, the oldest first. */
export function listedStashes(context: RepositoryContext, branch: string): readonly Sha[] {
  const made = stashLines(context).filter(({ sha, on }) => isSha(sha) && on(branch));
  return made.slice(-stashesMax).map(({ sha }) => sha);
}

interface StashLine {
  readonly sha: Sha;
  readonly on: (branch: string) => boolean;
}

/** The oldest first. */
function stashLines(context: RepositoryContext): readonly StashLine[] {
  const log = readText(join(context.commonDir, 'logs', 'refs', 'stash')) ?? '';
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      sha: line.split(' ')[1] ?? '',
      on: (branch) => line.includes(`\tWIP on ${branch}: `) || line.includes(`\tOn ${branch}: `),
    }));
}

async function keepStashes(context: RepositoryContext, branch: string): Promise<GitResult<void>> {
  const name = branch.replace(/^refs\/heads\//, '');
  for (let taken = 0; taken < stashesMax; taken += 1) {
    const lines = stashLines(context);
    const at = lines.findLastIndex(({ on }) => on(name));
    const sha = lines[at]?.sha ?? '';
    if (!isSha(sha)) return ok(undefined);
    const kept = await chainCommit(context, sha, labelOfBranch(name), 'agent');
    if (!kept.ok) return kept;
    const dropped = await context.git(['stash', 'drop', `stash@{${lines.length - 1 - at}}`]);
    if (dropped.code !== 0) return ok(undefined);
    await putBack(context, sha, dropped.stdout.toString('utf8'));
  }
  return ok(undefined);
}

/**
 * A person who stashes at the same time changes the numbers: a stash that was dropped instead of
 * ours is stored again.
 */
async function putBack(context: RepositoryContext, ours: Sha, said: string): Promise<void> {
  const dropped = /\(([0-9a-f]{40,64})\)/.exec(said)?.[1];
  if (dropped === undefined || dropped === ours) return;
  await context.git(['stash', 'store', '-m', 'stored again by drover', dropped]);
}

async function restoreGuardedKeys(context: RepositoryContext, path: string): Promise<void> {
  const texts = configTexts(context);
  const before = texts.get(path);
  texts.delete(path);
  if (before === undefined || before === configText(context)) return;
  await context.exclusively(async () => {
    const former = await guardedIn(context, ['-f', '-'], before);
    const present = await guardedIn(context, ['-f', join(context.commonDir, 'config')], null);
    if (former === null || present === null) return;
    for (const key of new Set([...former.keys(), ...present.keys()])) {
      const [old, now] = [former.get(key), present.get(key)];
      // A missing key was removed by the person: agents set the keys that their commits need.
      if (old === now || now === undefined) continue;
      const file = join(context.commonDir, 'config');
      const change = old === undefined ? ['--unset-all', key] : ['--replace-all', key, old];
      await context.git(['config', '-f', file, ...change]);
    }
  });
}

async function guardedIn(
  context: RepositoryContext,
  from: readonly string[],
  input: string | null,
): Promise<ReadonlyMap<string, string> | null> {
  const options = input === null ? {} : { input: Buffer.from(input, 'latin1') };
  const listed = await context.git(['config', ...from, '--list', '-z', '--no-includes'], options);
  if (listed.code !== 0) return null;
  const found = new Map<string, string>();
  for (const entry of listed.stdout.toString('utf8').split('\0')) {
    const end = entry.indexOf('\n');
    const key = end < 0 ? entry : entry.slice(0, end);
    if (guardedKeys.has(key)) found.set(key, end < 0 ? 'true' : entry.slice(end + 1));
  }
  return found;
}
