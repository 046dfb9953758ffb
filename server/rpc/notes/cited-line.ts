// Reads the line that a new note cites, so that a later prompt can check whether it still exists.

import { noteCharactersMax } from '../../core/notes/notes.ts';
import { toSingleLine } from '../../core/prompt/prompt-text.ts';
import { Refusal } from '../../core/failure.ts';
import type { DataGit } from '../handlers/data-deps.ts';
import { boundedText } from '../handlers/agent-attempt.ts';

const fileBytesMax = 1024 * 1024;
const lineCharactersMax = 2_000;

export interface CitedPlace {
  readonly path: string;
  readonly line: number;
}

/** The text of a note as it is stored: one line. */
export function noteText(text: string): string {
  const line = toSingleLine(text, Math.max(text.length, 1));
  return boundedText(line, 'The note', noteCharactersMax);
}

/**
 * Parses `file:line`, relative to the project. `folder`: a worktree that an absolute path may be
 * in.
 */
export function citedPlace(text: string, folder: string | null): CitedPlace {
  const [, given = '', number = ''] = /^(.+):([1-9]\d{0,6})$/u.exec(text.trim()) ?? [];
  const inside =
    folder !== null && given.startsWith(`${folder}/`) ? given.slice(folder.length + 1) : given;
  const path = inside.replaceAll('\\', '/').replace(/^(?:\.\/)+/u, '');
  const isOutside = path.startsWith('/') || /^[A-Za-z]:/u.test(path);
  const isOdd = path.split('/').some((part) => part === '' || part === '..' || part === '.');
  if (isOutside || isOdd || path.includes('\0')) {
    throw new Refusal(
      'bad_value',
      'The cited place must be file:line, with a path from the root of the project, as "src/cart.ts:12".',
    );
  }
  return { path, line: Number(number) };
}

/** Returns null if the commit has no such file or line, or if the line is blank. */
export async function lineAt(
  git: Pick<DataGit, 'fileAt'>,
  commit: string,
  { path, line }: CitedPlace,
): Promise<string | null> {
  const content = await textAt(git, commit, path);
  const text = content?.split('\n')[line - 1]?.trim() ?? '';
  return text === '' ? null : text.slice(0, lineCharactersMax);
}

export async function textAt(
  git: Pick<DataGit, 'fileAt'>,
  commit: string,
  path: string,
): Promise<string | null> {
  const read = await git.fileAt(commit, path, fileBytesMax);
  const bytes = read.ok ? read.value?.bytes : null;
  return bytes === null || bytes === undefined ? null : new TextDecoder().decode(bytes);
}

export function noSuchLine({ path, line }: CitedPlace, where: string): Refusal {
  return new Refusal(
    'bad_value',
    `${path} has no text in line ${line} ${where}. Name another line, or leave the place out.`,
  );
}
