// The setup note of a slot: its setup state, and the files that the setup created. Those files are
// not an agent's work, even if git does not ignore them.

import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import type { GitResult } from '../port.ts';
import type { PathBytes } from '../../files/path-bytes.ts';
import { readTrace } from './setup-traces.ts';
import { slotNotes } from '../refs/slot-notes.ts';
import { readPlain } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import { isReproducible } from './ignored-files.ts';
import type { ParsedStatus } from '../ask/status-format.ts';
import { readStatus, type StatusOptions } from '../ask/status.ts';
import type { Traces } from '../slot-port.ts';

/** Increased when the note's format changes, because older notes are not read. */
export const noteVersion = 1;

interface SetupNote {
  readonly fingerprint: string;
  readonly made: Traces;
}

function noteFile(worktree: LinkedWorktree): string {
  return join(worktree.gitDir, slotNotes.setup);
}

export function readNote(worktree: LinkedWorktree): SetupNote | null {
  const text = readPlain(noteFile(worktree))?.toString('latin1');
  if (text === undefined) return null;
  const [version, fingerprint, ...rest] = text.split('\0');
  if (version !== `${noteVersion}` || fingerprint === undefined) return null;
  const made = new Map<PathBytes, string>();
  for (let at = 0; at + 1 < rest.length; at += 2) made.set(rest[at] ?? '', rest[at + 1] ?? '');
  return { fingerprint, made };
}

/** Written completely or not at all. After a crash in between, the setup runs again. */
export async function writeNote(worktree: LinkedWorktree, note: SetupNote): Promise<void> {
  const lines = [`${noteVersion}`, note.fingerprint];
  for (const [path, trace] of note.made) lines.push(path, trace);
  const file = noteFile(worktree);
  await writeFile(`${file}.new`, `${lines.join('\0')}\0`, 'latin1');
  await rename(`${file}.new`, file);
}

/** Files of the setup were removed from the worktree, so it must run again. */
export async function forgetSetup(worktree: LinkedWorktree): Promise<void> {
  await rm(noteFile(worktree), { force: true });
}

/** The state of one of our slots. Files of its setup count as ignored. */
export async function slotStatus(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  options: StatusOptions = {},
): Promise<GitResult<ParsedStatus>> {
  const status = await readStatus(context, worktree.path, options);
  return status.ok ? ok(await ignoreSetupFiles(worktree, status.value)) : status;
}

/**
 * Counts unchanged untracked files of the setup as ignored. In folders such as `.venv` new files
 * count too, because the tools that use the folder write them.
 */
async function ignoreSetupFiles(
  worktree: LinkedWorktree,
  status: ParsedStatus,
): Promise<ParsedStatus> {
  if (!status.entries.some(({ kind }) => kind === 'untracked')) return status;
  const note = readNote(worktree);
  if (note === null) return status;
  const { made } = note;
  const folders = reproducibleFolders(made);
  const isSetups = (path: PathBytes): boolean =>
    made.get(path) === (readTrace(worktree.path, path) ?? undefined) ||
    folders.some((folder) => path.startsWith(folder));
  const entries = status.entries.map((entry) =>
    entry.kind === 'untracked' && !entry.path.endsWith('/') && isSetups(entry.path)
      ? { ...entry, kind: 'ignored' as const }
      : entry,
  );
  return { ...status, entries };
}

/** The outermost folders, each with a trailing slash. */
function reproducibleFolders(made: Traces): readonly PathBytes[] {
  const folders = new Set<PathBytes>();
  for (const [path, trace] of made) {
    const parts = path.split('/');
    if (trace !== '') parts.pop();
    const depth = parts.findIndex((part) => isReproducible(part));
    if (depth >= 0) folders.add(`${parts.slice(0, depth + 1).join('/')}/`);
  }
  return [...folders];
}
