// A tree like another one, but for some files, without an index: what it costs depends on the
// folders that change, and not on the size of the repository.

import { folderMode, type Entry } from './loose-trees.ts';
import { bytesOf, type PathBytes } from './paths.ts';
import type { Sha } from '../sha.ts';

export type Entries = ReadonlyMap<PathBytes, Entry>;

/** By path. Null: there is no such file. */
export type FileChanges = ReadonlyMap<PathBytes, Entry | null>;

export interface Trees {
  /** Null: it can't be read here. */
  read(id: Sha): Entries | null;
  /** Null: it can't be written here. */
  write(content: Buffer): Sha | null;
}

/** As git writes them; others come from old or foreign tools, and git would correct them. */
const modes: ReadonlySet<string> = new Set([folderMode, '100644', '100755', '120000', '160000']);

const none: Entries = new Map();

/** Null: it can't be made here. */
export function treeWith(trees: Trees, from: Sha, changes: FileChanges): Sha | null {
  const entries = changed(trees, from, [...changes]);
  return entries === null ? null : trees.write(contentOf(entries));
}

type Change = readonly [path: PathBytes, entry: Entry | null];

/** What changes at one name of a folder: the file itself, or files below it. */
interface AtName {
  file?: Entry | null;
  readonly below: Change[];
}

function changed(trees: Trees, from: Sha | null, changes: readonly Change[]): Entries | null {
  const before = from === null ? none : trees.read(from);
  if (before === null) return null;
  const after = new Map(before);
  for (const [name, at] of byName(changes)) {
    const entry = entryAt(trees, before.get(name), at);
    if (entry === undefined) return null;
    if (entry === null) after.delete(name);
    else after.set(name, entry);
  }
  return [...after.values()].every(({ mode }) => modes.has(mode)) ? after : null;
}

function byName(changes: readonly Change[]): ReadonlyMap<PathBytes, AtName> {
  const names = new Map<PathBytes, AtName>();
  for (const [path, entry] of changes) {
    const slash = path.indexOf('/');
    const name = slash < 0 ? path : path.slice(0, slash);
    const at = names.get(name) ?? { below: [] };
    if (slash < 0) at.file = entry;
    else at.below.push([path.slice(slash + 1), entry]);
    names.set(name, at);
  }
  return names;
}

/** Null: no such entry. Undefined: it can't be made here. */
function entryAt(
  trees: Trees,
  before: Entry | undefined,
  { file, below }: AtName,
): Entry | null | undefined {
  // A file has taken the place of a folder.
  if (file) return below.some(([, entry]) => entry !== null) ? undefined : file;
  const folder = before?.mode === folderMode ? before : null;
  if (below.length === 0) return folder;
  const rest = folder === null && before !== undefined && file !== null ? before : null;
  const entries = changed(trees, folder?.id ?? null, below);
  if (entries === null) return undefined;
  if (entries.size === 0) return rest;
  const id = trees.write(contentOf(entries));
  return id === null ? undefined : { mode: folderMode, id };
}

/** In git's order, in which the name of a folder ends with a slash. */
function contentOf(entries: Entries): Buffer {
  const sorted = [...entries]
    .map(([name, entry]) => ({ name, entry, key: entry.mode === folderMode ? `${name}/` : name }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, entry }) => [
      bytesOf(`${entry.mode} ${name}\0`),
      Buffer.from(entry.id, 'hex'),
    ]),
  );
}
