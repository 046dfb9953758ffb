// Reads one settings file. An unreadable part is reported as a problem with its location, never
// thrown.

import { type PlainFileLimits, type PlainFileRefusal, readPlainFile } from './plain-file.ts';
import { refused, type SettingsFile } from './settings-file.ts';

const nothing: SettingsFile = { entries: [], problems: [] };
const maxFileBytes = 1024 * 1024;

/**
 * Reads a file that need not exist. `name` is used in messages. A repository's file must not be a
 * link, because an agent or a clone could point it to any file of the machine.
 */
export async function readSettingsFile(
  path: string,
  name: string,
  links: PlainFileLimits['links'],
): Promise<SettingsFile> {
  const file = await readPlainFile(path, { bytesMax: maxFileBytes, links });
  if (file.kind === 'missing') return nothing;
  if (file.kind === 'refused') return refused(name, null, `${name} ${whyRefused(file.reason)}`);
  const { bytes } = file;
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

/** The end of a sentence that starts with the file's name. */
export function whyRefused(reason: PlainFileRefusal): string {
  switch (reason.kind) {
    case 'folder':
      return 'is a folder; name a file';
    case 'link':
      return 'is a symbolic link; replace it with a plain file';
    case 'special':
      return 'is a pipe, a socket or a device; replace it with a plain file';
    case 'too_long':
      return `has ${reason.bytes} bytes; at most 1 MB is read`;
    case 'unreadable':
      return `cannot be read (${reason.code}); make it readable`;
  }
}

/** Only comments, like the sample of "drover init", so that the parser need not be loaded. */
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
