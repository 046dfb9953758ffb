// Finds secrets in files of a worktree, in commits and in commit messages. Text that the base
// already contained does not count, so that a test fixture that looks like a key does not hold
// every change to its file.

import { readlinkSync } from 'node:fs';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { err, ok } from '../../core/failure.ts';
import { readBlobs } from '../ask/blobs.ts';
import type { RepositoryContext, SecretFound } from '../context.ts';
import { failureOf } from '../failures.ts';
import { absoluteBytes, type PathBytes, shown } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { actsOnTerminal } from './held-files.ts';
import { lstatOrNull, readPlain } from '../../files/small-files.ts';
import type { Sha } from '../sha.ts';

/** Longer files (bytes) are not searched. */
const searchedBytesMax = 5 * 1024 * 1024;
/** Includes names, because an agent chooses its own in its commits. */
const messageFormat = '--format=%an <%ae>%n%cn <%ce>%n%B';
/** Maximum number of removed files whose contents may have moved. */
const removedMax = 200;

/** Findings by path, short enough for one sentence. */
export type SecretPaths = ReadonlyMap<PathBytes, string>;

type Found = Map<PathBytes, readonly SecretFound[]>;

export async function secretsInFiles(
  context: RepositoryContext,
  root: string,
  base: Sha | null,
  paths: { readonly present: readonly PathBytes[]; readonly removed: readonly PathBytes[] },
): Promise<GitResult<SecretPaths>> {
  const found: Found = new Map();
  if (context.secretsIn === null) return ok(new Map());
  for (const path of paths.present) {
    const content = committedContent(absoluteBytes(root, path));
    if (content !== null) await search(context, found, path, [content]);
  }
  return withoutKnown(context, base, found, paths.removed);
}

/**
 * The content that git commits; for a link, its target. Returns null if it is not a file or too
 * long.
 */
function committedContent(path: Buffer): Buffer | null {
  if (lstatOrNull(path)?.isSymbolicLink() !== true) return readPlain(path, searchedBytesMax);
  try {
    return readlinkSync(path, { encoding: 'buffer' });
  } catch {
    // It has just been removed.
    return null;
  }
}

/** `blobs`: every content that the path had in the range. */
export async function secretsInRange(
  context: RepositoryContext,
  base: Sha | null,
  blobs: ReadonlyMap<PathBytes, ReadonlySet<Sha>>,
  removed: readonly PathBytes[],
): Promise<GitResult<SecretPaths>> {
  if (context.secretsIn === null) return ok(new Map());
  const read = await readBlobs(
    context,
    [...blobs.values()].flatMap((shas) => [...shas]),
    searchedBytesMax,
  );
  if (!read.ok) return read;
  const found: Found = new Map();
  for (const [path, shas] of blobs) {
    const contents = [...shas].flatMap((sha) => read.value.get(sha) ?? []);
    await search(context, found, path, contents);
  }
  return withoutKnown(context, base, found, removed);
}

/**
 * `names`: the one object to search for each path. The result also lists the paths that could be
 * read.
 */
export async function secretsAmong(
  context: RepositoryContext,
  base: Sha,
  names: ReadonlyMap<PathBytes, string>,
  removed: readonly PathBytes[],
): Promise<GitResult<{ readonly found: SecretPaths; readonly read: ReadonlySet<PathBytes> }>> {
  const contents = await readBlobs(context, [...names.values()], searchedBytesMax);
  if (!contents.ok) return contents;
  const found: Found = new Map();
  const read = new Set<PathBytes>();
  for (const [path, name] of names) {
    const content = contents.value.get(name);
    if (content === undefined) continue;
    read.add(path);
    await search(context, found, path, [content]);
  }
  const left = await withoutKnown(context, base, found, removed);
  return left.ok ? ok({ found: left.value, read }) : left;
}

async function search(
  { secretsIn }: RepositoryContext,
  found: Found,
  path: PathBytes,
  contents: readonly Buffer[],
): Promise<void> {
  const secrets: SecretFound[] = [];
  for (const content of contents) {
    if (secretsIn !== null) secrets.push(...(await secretsIn(content, shown(path))));
    await yieldToEventLoop();
  }
  if (secrets.length > 0) found.set(path, secrets);
}

/**
 * Why messages or names of commits are held: a secret, or characters that control the terminal of a
 * person who reads the history. Returns null if nothing is held.
 */
export async function heldInMessages(
  context: RepositoryContext,
  base: Sha,
  head: Sha,
): Promise<GitResult<string | null>> {
  const output = await context.git(['log', messageFormat, `${base}..${head}`, '--']);
  if (output.code !== 0) return err(failureOf(output, 'read the messages of the commits'));
  if (actsOnTerminal(output.stdout.toString('utf8'))) return ok('terminal control sequence');
  if (context.secretsIn === null) return ok(null);
  const [first] = await context.secretsIn(output.stdout, 'message');
  return ok(first?.what ?? null);
}

async function withoutKnown(
  context: RepositoryContext,
  base: Sha | null,
  found: Found,
  removed: readonly PathBytes[],
): Promise<GitResult<SecretPaths>> {
  const left = new Map<PathBytes, string>();
  if (found.size === 0 || context.secretsIn === null) return ok(left);
  if (base === null) return ok(firstOf(found));
  const places = [...found.keys(), ...removed.slice(0, removedMax)];
  const names = places.map((path) => `${base}:${path}`);
  const before = await readBlobs(context, names, searchedBytesMax);
  if (!before.ok) return before;
  const known = new Set<string>();
  for (const [name, content] of before.value) {
    const path = shown(name.slice(base.length + 1));
    for (const { id } of await context.secretsIn(content, path)) known.add(id);
  }
  for (const [path, secrets] of found) {
    const added = secrets.find(({ id }) => !known.has(id));
    if (added !== undefined) left.set(path, added.what);
  }
  return ok(left);
}

function firstOf(found: Found): SecretPaths {
  return new Map([...found].map(([path, [first]]) => [path, first?.what ?? 'secret']));
}
