// Finds secrets in file names, which land and are cloned like contents.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext, SecretFound } from '../context.ts';
import { toBytes, type PathBytes, shown, splitZero } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import type { Sha } from '../sha.ts';

export interface SecretName {
  /** Describes the secret in a sentence. */
  readonly what: string;
  /** The path without the secret, because names of held files are stored and printed. */
  readonly shownAs: string;
}

export type SecretNames = ReadonlyMap<PathBytes, SecretName>;

/** Replaces the rest of a path from the first segment with the secret. */
const hiddenPart = '[hidden]';
/**
 * Number of names searched together, because each search prepares all values and most names contain
 * none.
 */
const namesAtOnce = 200;

/** Checks names that the base does not have; without a base, all names. */
export async function secretNames(
  context: RepositoryContext,
  base: Sha | null,
  paths: readonly PathBytes[],
): Promise<GitResult<SecretNames>> {
  const found = await search(context, paths);
  const known = new Set<string>();
  if (found.size > 0 && base !== null) {
    const listed = await context.git(['ls-tree', '-r', '-z', '--name-only', base]);
    if (listed.code !== 0) return err(failureOf(listed, `list the files of ${base}`));
    const before = await search(context, splitZero(listed.stdout));
    for (const secrets of before.values()) for (const { id } of secrets) known.add(id);
  }
  const names = new Map<PathBytes, SecretName>();
  for (const [path, secrets] of found) {
    const added = secrets.find(({ id }) => !known.has(id));
    if (added === undefined) continue;
    const shownAs = await withoutSecrets(context, path, secrets);
    names.set(path, { what: `${added.what} in its name`, shownAs });
  }
  return ok(names);
}

/** The name in a form that may be stored and printed. */
export function shownName(names: SecretNames, path: PathBytes): string {
  return names.get(path)?.shownAs ?? shown(path);
}

/**
 * Whether a path is one of the stored names. If the secret in a stored name is no longer known
 * because its variable is unset, every path that the name may stand for counts.
 */
export function isAmongStored(
  stored: readonly string[],
  names: SecretNames,
): (path: PathBytes) => boolean {
  const exact = new Set(stored);
  const recognized = new Set([...names.values()].map(({ shownAs }) => shownAs));
  const folders = stored
    .filter((name) => name.endsWith(hiddenPart) && !recognized.has(name))
    .map((name) => name.slice(0, -hiddenPart.length));
  return (path) => {
    const name = shown(path);
    return names.has(path) || exact.has(name) || folders.some((one) => name.startsWith(one));
  };
}

async function search(
  { secretsIn }: RepositoryContext,
  paths: readonly PathBytes[],
): Promise<ReadonlyMap<PathBytes, readonly SecretFound[]>> {
  const found = new Map<PathBytes, readonly SecretFound[]>();
  if (secretsIn === null) return found;
  for (let at = 0; at < paths.length; at += namesAtOnce) {
    const group = paths.slice(at, at + namesAtOnce);
    const together = await secretsIn(toBytes(group.join('\n')), '');
    for (const path of together.length > 0 ? group : []) {
      const secrets = await secretsIn(toBytes(path), shown(path));
      if (secrets.length > 0) found.set(path, secrets);
    }
    await yieldToEventLoop();
  }
  return found;
}

/** A value may contain slashes, so the text is cut above the folders that contain it. */
async function withoutSecrets(
  { secretsIn }: RepositoryContext,
  path: PathBytes,
  secrets: readonly SecretFound[],
): Promise<string> {
  const parts = path.split('/');
  const idsIn = async (text: PathBytes): Promise<ReadonlySet<string>> =>
    new Set((await secretsIn?.(toBytes(text), shown(path)))?.map(({ id }) => id));
  for (let at = parts.length - 1; at > 0; at--) {
    const folder = `${parts.slice(0, at).join('/')}/`;
    const rest = await idsIn(parts.slice(at).join('/'));
    const isWhole = secrets.every(({ id }) => rest.has(id));
    if (isWhole && (await idsIn(folder)).size === 0) return `${shown(folder)}${hiddenPart}`;
  }
  return hiddenPart;
}
