// Reads one settings file. What cannot be read is a problem with its place, never a throw.

import { readFile } from 'node:fs/promises';
import { refused, type SettingsFile } from './settings-file.ts';

const nothing: SettingsFile = { entries: [], problems: [] };
const maxFileBytes = 1024 * 1024;

/** Reads a file that need not exist. `name` is how messages call it. */
export async function readSettingsFile(path: string, name: string): Promise<SettingsFile> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    // ENOTDIR: a part of the way is a file, so there is no such settings file either.
    if (code === 'ENOENT' || code === 'ENOTDIR') return nothing;
    const what =
      code === 'EISDIR'
        ? 'is a folder; a file is needed'
        : `cannot be read (${code}); make it readable for you`;
    return refused(name, null, `${name} ${what}`);
  }
  if (bytes.length > maxFileBytes) {
    return refused(name, null, `${name} has ${bytes.length} bytes; at most 1 MB is read`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const line = lineOfBadByte(bytes);
    return refused(name, line, `${name}, line ${line}: not UTF-8; save the file as UTF-8`);
  }
  if (isSilent(text)) return nothing;
  const { parseSettingsText } = await import('./toml-file.ts');
  return parseSettingsText(text, name);
}

/** Nothing but comments, as the sample that "drover init" writes: the parser need not be loaded for it. */
function isSilent(text: string): boolean {
  return /^(?:[ \t]*(?:#[\t\x20-\x7e]*)?\r?\n)*$/.test(text);
}

function lineOfBadByte(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(10, start);
    try {
      decoder.decode(bytes.subarray(start, end === -1 ? bytes.length : end));
    } catch {
      return line;
    }
    if (end === -1) return line;
    start = end + 1;
    line += 1;
  }
}
