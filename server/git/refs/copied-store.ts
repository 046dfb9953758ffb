// Copies the history of a repository that an agent created into a repository of Drover: its refs
// are copied as text and its objects lent. Its configuration, hooks, alternates and promisors are
// left behind. Git is never started inside such a folder.

import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { isSha } from '../sha.ts';
import { lstatOrNull, listNames, readText } from '../../files/small-files.ts';

export interface CopyOfHistory {
  /** A bare repository, which the caller deletes. */
  readonly path: string;
  readonly headSha: string | null;
}

const refsMax = 10_000;
const refDepthMax = 12;
const smallFileBytesMax = 16 * 1024 * 1024;

/** Returns null if the history is unreadable (broken, empty, or made to point elsewhere). */
export async function copyOfHistory(
  context: Pick<RepositoryContext, 'git'>,
  folder: string,
): Promise<CopyOfHistory | null> {
  return copyOfStore(context, join(folder, '.git'));
}

/** Like `copyOfHistory`, for a git folder at any location. */
export async function copyOfStore(
  context: Pick<RepositoryContext, 'git'>,
  source: string,
): Promise<CopyOfHistory | null> {
  const objects = join(source, 'objects');
  if (!isFolder(source) || !isFolder(objects) || !isFolder(join(source, 'refs'))) return null;
  // Borrowed objects are not its own and may belong to anyone.
  if (lstatOrNull(join(objects, 'info', 'alternates')) !== null) return null;
  const refs = parseRefs(source);
  const head = headOf(source, refs);
  if (head === null && Object.keys(refs).length === 0) return null;
  const path = await bareStore((Object.values(refs)[0] ?? head)?.length === 64);
  await writeFile(join(path, 'objects', 'info', 'alternates'), `${objects}\n`);
  const shallow = smallText(join(source, 'shallow'));
  if (shallow !== null) await writeFile(join(path, 'shallow'), shallow);
  if (head !== null) await writeFile(join(path, 'HEAD'), `${head}\n`);
  const lines = Object.entries(refs).map(([name, sha]) => `${sha} ${name}\n`);
  await writeFile(join(path, 'packed-refs'), lines.toSorted(byName).join(''));
  return { path, headSha: await presentHead(context, path, head) };
}

/** An empty bare repository in a temporary folder, with a configuration that names nothing. */
export async function bareStore(isSha256: boolean): Promise<string> {
  // Uses the real path, because on some systems the temporary folder is a link.
  const path = await mkdtemp(join(await realpath(tmpdir()), 'drover-nested-'));
  for (const name of ['refs', 'objects/info']) await mkdir(join(path, name), { recursive: true });
  await writeFile(
    join(path, 'config'),
    isSha256
      ? '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n'
      : '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
  );
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/none\n');
  return path;
}

/** A HEAD whose commit is missing has no history. */
async function presentHead(
  context: Pick<RepositoryContext, 'git'>,
  path: string,
  head: string | null,
): Promise<string | null> {
  if (head === null) return null;
  const found = await context.git([`--git-dir=${path}`, 'cat-file', '-e', `${head}^{commit}`]);
  return found.code === 0 ? head : null;
}

function byName(a: string, b: string): number {
  const [left, right] = [a.slice(a.indexOf(' ')), b.slice(b.indexOf(' '))];
  return left < right ? -1 : left > right ? 1 : 0;
}

function isFolder(path: string): boolean {
  return lstatOrNull(path)?.isDirectory() === true;
}

function smallText(path: string): string | null {
  const facts = lstatOrNull(path);
  return facts?.isFile() === true && facts.size <= smallFileBytesMax ? readText(path) : null;
}

/** Reads the refs of a git folder with file-based refs as text. Omits malformed ones. */
export function parseRefs(source: string): Readonly<Record<string, string>> {
  return { ...packedRefs(source), ...looseRefs(source) };
}

function headOf(source: string, refs: Readonly<Record<string, string>>): string | null {
  const text = smallText(join(source, 'HEAD'))?.trim() ?? '';
  if (isSha(text)) return text;
  return text.startsWith('ref: ') ? (refs[text.slice(5).trim()] ?? null) : null;
}

function packedRefs(source: string): Record<string, string> {
  const refs: Record<string, string> = {};
  for (const line of (smallText(join(source, 'packed-refs')) ?? '').split('\n').slice(0, refsMax)) {
    const [sha = '', name = ''] = line.split(' ');
    if (isSha(sha) && isRefName(name)) refs[name] = sha;
  }
  return refs;
}

function looseRefs(source: string): Record<string, string> {
  const refs: Record<string, string> = {};
  const walk = (name: string, depth: number): void => {
    if (depth > refDepthMax || Object.keys(refs).length >= refsMax) return;
    for (const child of listNames(join(source, name))) {
      const ref = `${name}/${child}`;
      if (isFolder(join(source, ref))) walk(ref, depth + 1);
      const sha = smallText(join(source, ref))?.trim() ?? '';
      if (isSha(sha) && isRefName(ref)) refs[ref] = sha;
    }
  };
  walk('refs', 0);
  return refs;
}

/** Applies git's rules for names, so that a file with another name does not break the list. */
function isRefName(name: string): boolean {
  const isWellFormed = /^refs(?:\/(?!\.)[^\p{Cc}\s~^:?*[\\/]+)+$/u.test(name);
  return isWellFormed && !/\.\.|@\{|\.lock(?:\/|$)|\.$/.test(name);
}
