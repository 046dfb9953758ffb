// Parses `git status --porcelain=v2 --branch -z --no-renames`.

import type { PathBytes } from '../../files/path-bytes.ts';

export interface StatusEntry {
  readonly kind: 'changed' | 'unmerged' | 'untracked' | 'ignored';
  readonly path: PathBytes;
  /** State of the index relative to HEAD; `.` = unchanged. */
  readonly index: string;
  /** State of the worktree relative to the index; `.` = unchanged. */
  readonly worktree: string;
  /** True for a submodule's entry. */
  readonly submodule: boolean;
}

export interface ParsedStatus {
  /** Null before the branch's first commit. */
  readonly head: string | null;
  /** Short name; null if HEAD is detached. */
  readonly branch: string | null;
  readonly entries: readonly StatusEntry[];
  /** Folders that git skipped because it may not read them, for display. */
  readonly unreadable: readonly string[];
}

/** Number of fields before the path, by the record's first letter. */
const fieldsBeforePath: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 };

export const statusArguments: readonly string[] = [
  'status',
  '--porcelain=v2',
  '--branch',
  '-z',
  '-uall',
  '--no-renames',
  // Without this option, git starts another git in each submodule, which obeys that submodule's
  // configuration.
  '--ignore-submodules=dirty',
];

const unreadablePattern = /^warning: could not open directory '(.+)': /gmu;

/** `warnings`: git's only mention of folders that it cannot read, because it still exits with 0. */
export function parseStatus(output: Buffer, warnings = ''): ParsedStatus {
  let head: string | null = null;
  let branch: string | null = null;
  const entries: StatusEntry[] = [];
  const records = output.toString('latin1').split('\0');
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] ?? '';
    if (record.startsWith('# branch.oid ')) {
      const value = record.slice('# branch.oid '.length);
      head = value === '(initial)' ? null : value;
    } else if (record.startsWith('# branch.head ')) {
      const value = record.slice('# branch.head '.length);
      branch = value === '(detached)' ? null : Buffer.from(value, 'latin1').toString('utf8');
    } else {
      const entry = parseEntry(record);
      if (entry) entries.push(entry);
      // A renamed entry is followed by its former path. We ask for none, but one must not shift the
      // other records.
      if (record.startsWith('2 ')) index += 1;
    }
  }
  const unreadable = [...warnings.matchAll(unreadablePattern)].map(([, path = '']) => path);
  return { head, branch, entries, unreadable: [...new Set(unreadable)] };
}

function parseEntry(record: string): StatusEntry | null {
  const letter = record[0] ?? '';
  if (letter === '?' || letter === '!') {
    const kind = letter === '?' ? 'untracked' : 'ignored';
    return { kind, path: record.slice(2), index: '.', worktree: letter, submodule: false };
  }
  const fields = fieldsBeforePath[letter];
  if (fields === undefined) return null;
  let from = 0;
  for (let field = 0; field < fields; field += 1) {
    const space = record.indexOf(' ', from);
    if (space === -1) return null;
    from = space + 1;
  }
  return {
    kind: letter === 'u' ? 'unmerged' : 'changed',
    path: record.slice(from),
    index: record[2] ?? '.',
    worktree: record[3] ?? '.',
    submodule: record[5] === 'S',
  };
}

/** Git lists a nested repository with a trailing slash, without its contents. */
export function isNestedRepository(entry: StatusEntry): boolean {
  return entry.kind !== 'changed' && entry.path.endsWith('/');
}
