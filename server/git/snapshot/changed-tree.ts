// The tree of a snapshot from HEAD's and the files that differ from it. Git hashes only those, in
// an index of nothing else: what it costs does not depend on the size of the repository.

import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import { indexEntries } from '../files/index-entries.ts';
import { parseTree, readTree } from '../files/loose-trees.ts';
import { absoluteBytes, bytesOf, foldersAbove, type PathBytes, zeroEnded } from '../files/paths.ts';
import { factsOfAll, readPlain, type FileFacts } from '../files/small-files.ts';
import { treeWith, type Entries, type FileChanges } from '../files/tree-with.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';
import { writeObject } from '../files/write-object.ts';
import { settings } from '../process/environment.ts';
import type { StatusEntry } from '../read/status-format.ts';
import { isSha, type Sha } from '../sha.ts';
import { ownIndexFile } from './own-index.ts';

export interface ChangedFiles {
  readonly worktree: LinkedWorktree;
  readonly head: Sha;
  /** Of the status, as far as they are kept. */
  readonly entries: readonly StatusEntry[];
  /** Of these entries, and of ignored files that are kept as well. */
  readonly paths: readonly PathBytes[];
}

const pathsMax = 500;
const readBytesMax = 4 * 1024 * 1024;
const carriageReturn = 0x0d;

/** As it is where the files say all; that it is so was asked when the repository was opened. */
const plainIndex = settings({
  'core.fileMode': 'true',
  'core.symlinks': 'true',
  'core.ignoreCase': 'false',
  'core.splitIndex': 'false',
  'core.untrackedCache': 'false',
});

/** Null: it takes a whole index to make it. */
export async function changedTree(
  context: RepositoryContext,
  files: ChangedFiles,
): Promise<Sha | null> {
  if (!context.filesSayAll) return null;
  if (!files.entries.every(isPlain) || files.paths.length > pathsMax) return null;
  const there = (await factsOfAll(files.worktree.path, files.paths)).filter(isFileOrLink);
  // Git asks the index whether line ends of a file are to be kept as they are.
  if (mayHoldReturns(files.worktree.path, there)) return null;
  const hashed = await hash(
    context,
    files.worktree,
    there.map(({ path }) => path),
  );
  if (hashed === null) return null;
  const changes = new Map(files.paths.map((path) => [path, hashed.get(path) ?? null]));
  const known = [...hashed.keys()].every((path) => changes.has(path));
  return known ? editHead(context, files.head, changes) : null;
}

/** What is staged, or has another commit in a submodule, is in the index alone. */
function isPlain({ kind, path, index, submodule }: StatusEntry): boolean {
  const isChanged = kind === 'untracked' || (kind === 'changed' && index === '.');
  // Rules for contents that are gone from the folder still count, from the index.
  return isChanged && !submodule && basename(path).toLowerCase() !== '.gitattributes';
}

function isFileOrLink({ stats }: FileFacts): boolean {
  return stats !== null && (stats.isFile() || stats.isSymbolicLink());
}

function mayHoldReturns(root: string, files: readonly FileFacts[]): boolean {
  let left = readBytesMax;
  for (const { path, stats } of files) {
    if (stats === null || !stats.isFile()) continue;
    left -= stats.size;
    const bytes = left < 0 ? null : readPlain(absoluteBytes(root, path), readBytesMax);
    if (bytes === null || bytes.includes(carriageReturn)) return true;
  }
  return false;
}

/** Writes the files into the store. Null: git has refused one of them. */
async function hash(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  paths: readonly PathBytes[],
): Promise<Entries | null> {
  if (paths.length === 0) return new Map();
  const file = await ownIndexFile(context, worktree);
  try {
    const added = await context.git([...plainIndex, 'update-index', '--add', '-z', '--stdin'], {
      at: worktree.path,
      input: zeroEnded(paths),
      env: {
        GIT_INDEX_FILE: file,
        GIT_INDEX_VERSION: '2',
        // What only the folder of a confined program holds is written here as well.
        GIT_ALTERNATE_OBJECT_DIRECTORIES: '',
      },
    });
    if (added.code !== 0) return null;
    return indexEntries(file, context.idBytes);
  } finally {
    await rm(file, { force: true });
    await rm(`${file}.lock`, { force: true });
  }
}

async function editHead(
  context: RepositoryContext,
  head: Sha,
  changes: FileChanges,
): Promise<Sha | null> {
  const objects = join(context.commonDir, 'objects');
  const asked = packedTrees.of(context, () => new PackedTrees());
  const trees = {
    read: (id: Sha) => readTree(objects, id, context.idBytes) ?? asked.get(id),
    write: (content: Buffer) => writeObject(objects, 'tree', content, context.idBytes),
  };
  const known = rootOf(asked, head);
  const made = known === null ? null : treeWith(trees, known, changes);
  if (made !== null) return made;
  await asked.ask(context, head, changes.keys());
  const root = rootOf(asked, head);
  return root === null ? null : treeWith(trees, root, changes);
}

function rootOf(asked: PackedTrees, head: Sha): Sha | null {
  return asked.rootOf(head);
}

const packedTrees = new MadeOnce<RepositoryContext, PackedTrees>();

/** Trees that have no file of their own, until so many were asked for. */
class PackedTrees {
  readonly #trees = new Map<Sha, Entries>();
  readonly #roots = new Map<Sha, Sha>();
  #entries = 0;

  get(id: Sha): Entries | null {
    return this.#trees.get(id) ?? null;
  }

  rootOf(head: Sha): Sha | null {
    return this.#roots.get(head) ?? null;
  }

  /** The root of a commit, and the folders in it that hold some files. */
  async ask(context: RepositoryContext, head: Sha, paths: Iterable<PathBytes>): Promise<void> {
    const folders = new Set<PathBytes>();
    for (const path of paths) for (const folder of foldersAbove(path)) folders.add(folder);
    const names = [`${head}^{tree}`, ...[...folders].map((folder) => `${head}:${folder}`)];
    if (names.some((name) => name.includes('\n'))) return;
    const input = bytesOf(names.map((name) => `${name}\n`).join(''));
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: '' };
    const output = await context.git(['cat-file', '--buffer', '--batch'], { input, env });
    if (output.code !== 0) return;
    const answers = treesIn(output.stdout, context.idBytes);
    const [root] = answers;
    if (root === undefined) return;
    this.#forgetIfFull();
    this.#roots.set(head, root.id);
    for (const { id, entries } of answers) {
      this.#trees.set(id, entries);
      this.#entries += entries.size;
    }
  }

  #forgetIfFull(): void {
    if (this.#entries < entriesMax) return;
    this.#trees.clear();
    this.#roots.clear();
    this.#entries = 0;
  }
}

const entriesMax = 20_000;

interface Tree {
  readonly id: Sha;
  readonly entries: Entries;
}

/** Reads answers `<id> <kind> <size>\n<content>\n`; what is no tree is left out. */
function treesIn(output: Buffer, idBytes: number): Tree[] {
  const found: Tree[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0x0a, at);
    if (end < 0) break;
    const line = output.toString('latin1', at, end);
    const [id = '', kind, size] = line.split(' ');
    at = end + 1;
    if (line.endsWith(' missing') || !isSha(id)) continue;
    const content = output.subarray(at, at + Number(size));
    const entries = kind === 'tree' ? parseTree(content, idBytes) : null;
    if (entries !== null) found.push({ id, entries });
    at += content.length + 1;
  }
  return found;
}
