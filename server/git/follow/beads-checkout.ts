// Handles uncommitted Beads changes in a checkout that is about to follow its branch. `bd` writes
// its files often, so they are rarely clean. The landed version is merged into them, and neither
// side loses a change.

import { randomBytes } from 'node:crypto';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBeadsFile } from '../../core/exchange/beads-merge.ts';
import { blobText, mergeBeads, writeBlob } from '../ask/beads-files.ts';
import type { RepositoryContext } from '../context.ts';
import type { FollowStep } from './names.ts';
import { splitZero } from '../../files/path-bytes.ts';
import { lstatOrNull, readText } from '../../files/small-files.ts';

interface Entry {
  readonly mode: string;
  readonly blob: string;
}

interface Settled {
  readonly path: string;
  readonly landed: Entry;
  /** Its earlier index entry. Null if git did not track the file. */
  readonly before: Entry | null;
  /** Its later index entry. Staged changes stay staged. */
  readonly after: Entry;
}

/** Whether git refused only because of Beads files. */
export function isBeadsAlone(paths: readonly string[]): boolean {
  return paths.length > 0 && paths.every(isBeadsFile);
}

/**
 * Merges the landed version into the files, gives their index entries the landed content, and lets
 * the body move the checkout: git does not touch a file whose index entry is already the new one. A
 * crash in between leaves merged files, from which the next try gets the same result. Returns false
 * without running the body if a file cannot be merged.
 */
export async function pastBeads(
  context: RepositoryContext,
  checkout: string,
  step: FollowStep,
  paths: readonly string[],
  body: () => Promise<boolean>,
): Promise<boolean> {
  const all: Settled[] = [];
  for (const path of paths) {
    const settled = await settle(context, checkout, step, path);
    if (settled === null) return false;
    all.push(settled);
  }
  const stage = (entryOf: (settled: Settled) => Entry | null): Promise<boolean> =>
    writeEntries(context, checkout, new Map(all.map((one) => [one.path, entryOf(one)])));
  if (!(await stage(({ landed }) => landed))) return false;
  const hasMoved = await body();
  await stage(hasMoved ? ({ after }) => after : ({ before }) => before);
  return hasMoved;
}

async function settle(
  context: RepositoryContext,
  checkout: string,
  { from, to }: FollowStep,
  path: string,
): Promise<Settled | null> {
  const file = join(checkout, path);
  const facts = lstatOrNull(file);
  const present = facts?.isFile() === true ? readText(file) : null;
  const landed = await entryIn(context, ['ls-tree', '-z', to, '--', path]);
  if (facts === null || present === null || landed === null) return null;
  const base = await entryIn(context, ['ls-tree', '-z', from, '--', path]);
  const before = await entryIn(context, ['ls-files', '-s', '-z', '--', path], checkout);
  const staged = before === null ? null : await textOf(context, before);
  const isStaged = before !== null && ![base?.blob, landed.blob].includes(before.blob);
  // The user staged content that differs from both the commit and the file.
  if (isStaged && staged !== present) return null;
  const [old, theirs] = [
    base === null ? '' : await textOf(context, base),
    await textOf(context, landed),
  ];
  const merged = old === null || theirs === null ? null : mergeBeads(old, present, theirs);
  if (merged === null) return null;
  if (merged !== present && !replace(file, merged, present, facts.mode)) return null;
  const blob = isStaged ? await writeBlob(context, merged) : null;
  const after = blob?.ok === true ? { mode: landed.mode, blob: blob.value } : landed;
  return { path, landed, before, after };
}

async function textOf(context: RepositoryContext, entry: Entry): Promise<string | null> {
  const text = await blobText(context, entry.blob);
  return text.ok ? text.value : null;
}

/** Parses `ls-tree -z` or `ls-files -s -z`. Returns null if the path is not an existing file. */
async function entryIn(
  context: RepositoryContext,
  args: readonly string[],
  at?: string,
): Promise<Entry | null> {
  const output = await context.git(
    ['--literal-pathspecs', ...args],
    at === undefined ? {} : { at, waitForLocks: false },
  );
  const found = /^(100\d{3}) (?:blob )?([0-9a-f]+)(?: 0)?\t/u.exec(
    splitZero(output.stdout)[0] ?? '',
  );
  const [, mode, blob] = found ?? [];
  return mode === undefined || blob === undefined ? null : { mode, blob };
}

/** All or nothing; refuses if the files changed in the meantime. */
function replace(file: string, text: string, expected: string, mode: number): boolean {
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
    chmodSync(temporary, mode);
    if (readText(file) !== expected) return false;
    renameSync(temporary, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(temporary, { force: true });
  }
}

async function writeEntries(
  context: RepositoryContext,
  checkout: string,
  entries: ReadonlyMap<string, Entry | null>,
): Promise<boolean> {
  const lines = [...entries].map(([path, entry]) =>
    // Mode 0 removes the entry.
    entry === null
      ? `0 ${'0'.repeat(40)}\t${path}\0`
      : `${entry.mode} blob ${entry.blob}\t${path}\0`,
  );
  const output = await context.git(['update-index', '-z', '--index-info'], {
    at: checkout,
    input: lines.join(''),
    waitForLocks: false,
  });
  return output.code === 0;
}
