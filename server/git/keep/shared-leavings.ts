// Detects changes, while an agent without a sandbox runs, in the git folder that all worktrees
// share. Drover does not write these parts, so the user or any of several agents made the change.
// It is reported with the command that reverts it. Stashes that the attempt made become part of its
// snapshots, and a user's stash that disappeared gets a ref of Drover's.

import { MadeOnce } from '../../core/made-once.ts';
import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import { quoted } from '../../core/format.ts';
import type { RepositoryContext } from '../context.ts';
import type { GitResult } from '../port.ts';
import type { SharedChange } from '../slot-port.ts';
import { lstatOrNull, listNames, readPlain, readText } from '../../files/small-files.ts';
import { rescueRoot } from '../../core/work/ref-names.ts';
import { readRef, updateRefs } from '../refs/refs.ts';
import { chainCommit, labelOfBranch } from './work-chain.ts';
import { isSha, type Sha } from '../sha.ts';

/** Sections and keys that git and Drover change in normal operation. */
const ordinary =
  /^(?:branch|extensions|gc|lfs|maintenance|submodule)\.|^core\.repositoryformatversion$/;

interface SharedState {
  readonly settings: string;
  readonly exclude: string;
  /** For each hook, a text that changes with the hook. */
  readonly hooks: ReadonlyMap<string, string>;
  readonly stashes: readonly Stash[];
}

/** By slot path. */
const states = new MadeOnce<RepositoryContext, Map<string, SharedState>>();

function statesIn(context: RepositoryContext): Map<string, SharedState> {
  return states.of(context, () => new Map());
}

function readState(context: RepositoryContext): SharedState {
  const folder = join(context.commonDir, 'hooks');
  const hooks = listNames(folder).map((name) => {
    const facts = lstatOrNull(join(folder, name));
    return [name, [facts?.ino, facts?.size, facts?.mtimeMs, facts?.mode].join(' ')] as const;
  });
  return {
    settings: readPlain(join(context.commonDir, 'config'))?.toString('latin1') ?? '',
    exclude: readText(join(context.commonDir, 'info', 'exclude')) ?? '',
    hooks: new Map(hooks),
    stashes: personStashes(context),
  };
}

/** Call before an agent starts in the slot. */
export function noteShared(context: RepositoryContext, path: string): void {
  statesIn(context).set(path, readState(context));
}

/** A sandboxed program cannot change these parts, so any change is the user's. */
export function forgetShared(context: RepositoryContext, path: string): void {
  statesIn(context).delete(path);
}

/**
 * Call after an agent has ended. Returns the changes since the slot was prepared or since the last
 * call. A stash that disappeared then has a ref.
 */
export async function sharedChanges(
  context: RepositoryContext,
  path: string,
): Promise<readonly SharedChange[]> {
  const before = statesIn(context).get(path);
  if (before === undefined) return [];
  const now = readState(context);
  statesIn(context).set(path, now);
  const names = new Set([...before.hooks.keys(), ...now.hooks.keys()]);
  const hooks = [...names].filter((name) => before.hooks.get(name) !== now.hooks.get(name)).sort();
  return [
    ...(before.settings === now.settings ? [] : await changedSettings(context, before, now)),
    ...(hooks.length === 0 ? [] : [{ kind: 'hooks', names: hooks } as const]),
    ...(before.exclude === now.exclude ? [] : [{ kind: 'exclude' } as const]),
    ...(await keepGone(context, before.stashes)),
  ];
}

async function changedSettings(
  context: RepositoryContext,
  before: SharedState,
  now: SharedState,
): Promise<readonly SharedChange[]> {
  const [former, present] = [await listed(context, before), await listed(context, now)];
  if (former === null || present === null) return [];
  const changes: SharedChange[] = [];
  for (const key of new Set([...former.keys(), ...present.keys()])) {
    const [old = [], values = []] = [former.get(key), present.get(key)];
    if (ordinary.test(key) || old.join('\0') === values.join('\0')) continue;
    changes.push({ kind: 'setting', key, before: old, now: values, restore: restoring(key, old) });
  }
  return changes;
}

async function listed(
  context: RepositoryContext,
  { settings }: SharedState,
): Promise<ReadonlyMap<string, readonly string[]> | null> {
  const output = await context.git(['config', '-f', '-', '--list', '-z', '--no-includes'], {
    input: Buffer.from(settings, 'latin1'),
  });
  if (output.code !== 0) return null;
  const found = new Map<string, string[]>();
  for (const entry of output.stdout.toString('utf8').split('\0')) {
    const end = entry.indexOf('\n');
    const key = end < 0 ? entry : entry.slice(0, end);
    if (key === '') continue;
    found.set(key, [...(found.get(key) ?? []), end < 0 ? 'true' : entry.slice(end + 1)]);
  }
  return found;
}

function restoring(key: string, values: readonly string[]): string {
  const name = /^[\w.-]+$/.test(key) ? key : quoted(key);
  const [only] = values;
  if (only === undefined) return `git config --unset-all ${name}`;
  if (values.length === 1) return `git config --replace-all ${name} ${quoted(only)}`;
  const added = values.map((value) => `git config --add ${name} ${quoted(value)}`);
  return [`git config --unset-all ${name}`, ...added].join(' && ');
}

/** Maximum number of stashes kept per attempt, latest first. */
const stashesMax = 50;

/** Listed stashes that were made on the attempt's branch, oldest first. */
export function listedStashes(context: RepositoryContext, branch: string): readonly Sha[] {
  const log = readText(join(context.commonDir, 'logs', 'refs', 'stash')) ?? '';
  const isOurs = (line: string): boolean =>
    line.includes(`\tWIP on ${branch}: `) || line.includes(`\tOn ${branch}: `);
  const lines = log.split('\n').filter(isOurs);
  return lines
    .map((line) => line.split(' ')[1] ?? '')
    .filter(isSha)
    .slice(-stashesMax);
}

/**
 * Call after the agent of an attempt has ended and before its work is stored. Stashes made on its
 * branch become part of its snapshots. They stay in the list, which belongs to the user.
 */
export async function keepStashes(
  context: RepositoryContext,
  branch: string,
): Promise<GitResult<void>> {
  const name = branch.replace(/^refs\/heads\//, '');
  for (const sha of listedStashes(context, name)) {
    const kept = await chainCommit(context, sha, labelOfBranch(name), 'agent');
    if (!kept.ok) return kept;
  }
  return ok(undefined);
}

interface Stash {
  readonly sha: Sha;
  readonly message: string;
}

/**
 * Stashes of the user, oldest first. An agent that stashed nothing and runs `git stash pop` takes
 * one.
 */
function personStashes(context: RepositoryContext): readonly Stash[] {
  const log = readText(join(context.commonDir, 'logs', 'refs', 'stash')) ?? '';
  return log.split('\n').flatMap((line) => {
    const [facts = '', message = ''] = line.split('\t');
    const sha = facts.split(' ')[1] ?? '';
    const isOurs = /^(?:WIP on|On) drover\//.test(message);
    return isSha(sha) && !isOurs ? [{ sha, message }] : [];
  });
}

function goneStashes(context: RepositoryContext, before: readonly Stash[]): readonly Stash[] {
  if (before.length === 0) return [];
  const present = new Set(personStashes(context).map(({ sha }) => sha));
  return before.filter(({ sha }) => !present.has(sha));
}

/** Gives each stash that disappeared a ref, and reports those that had none. */
async function keepGone(
  context: RepositoryContext,
  before: readonly Stash[],
): Promise<readonly SharedChange[]> {
  const changes: SharedChange[] = [];
  for (const { sha, message } of goneStashes(context, before)) {
    const ref = `${rescueRoot}stashes/${sha}`;
    if ((await readRef(context, ref)) !== null) continue;
    const change = { ref, next: sha, old: null };
    const kept = await updateRefs(context, [change], 'drover: a stash is gone');
    if (!kept.ok) continue;
    const restore = `git stash store -m ${quoted(message)} ${sha}`;
    changes.push({ kind: 'stash', message, ref, restore });
  }
  return changes;
}
