// The commands import and export.

import { resolve } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import type { Client, ImportResultView } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { readInputFile } from '../read-input.ts';
import { readPresent, writeWhole } from '../shared-file.ts';

export interface ImportOptions {
  readonly format: 'auto' | 'session' | 'jsonl' | 'beads';
  readonly dryRun?: boolean;
  readonly update?: boolean;
  readonly rename?: boolean;
  readonly skipInvalid?: boolean;
  readonly continue?: boolean;
}

export interface ExportOptions {
  readonly format: 'session' | 'json' | 'yaml' | 'beads' | 'jsonl';
  readonly output?: string;
}

const fileBytesMax = 32 * 1024 * 1024;

export async function importFile(
  context: CommandContext,
  file: string,
  options: ImportOptions,
): Promise<number> {
  const bytes = await readImport(context, file);
  const { text, badLines } = decodeLines(bytes);
  const client = await context.client('data');
  const result = await client.call('import', {
    text,
    bad_utf8_lines: badLines,
    file: file === '-' ? 'standard input' : file,
    format: options.format,
    dry_run: options.dryRun === true,
    update: options.update === true,
    rename: options.rename === true,
    skip_invalid: options.skipInvalid === true,
  });
  const isRefused = result.errors.length > 0 && options.skipInvalid !== true;
  tellProblems(context, file, result);
  if (isRefused) {
    const message = refusalOf(file, result);
    context.tell(`drover: ${message}`);
    if (context.json) context.printJson({ ...result, error: { kind: 'bad_import', message } });
    return exitCodes.refused;
  }
  if (isNothing(result)) {
    context.tell(`drover: ${file} has no epic and no task to import; nothing was imported.`);
    if (context.json) context.printJson(result);
    return exitCodes.failed;
  }
  context.answer(result, importSentence(file, result, options.dryRun === true));
  if (options.continue !== true || options.dryRun === true) return exitCodes.done;
  client.close();
  return await (await import('./run.ts')).run(context, {});
}

/** Whether the file had no usable record, now or at an earlier import. */
function isNothing({ imported, unchanged, differs }: ImportResultView): boolean {
  return imported.epics + imported.tasks + unchanged + differs.length === 0;
}

/**
 * The text, and the numbers of lines with invalid UTF-8, which are refused one by one and not with
 * the whole file.
 */
export function decodeLines(bytes: Buffer): { readonly text: string; readonly badLines: number[] } {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { text: decoder.decode(bytes), badLines: [] };
  } catch {
    // Checked line by line, because in UTF-8 a line feed byte is never part of another character.
  }
  const badLines: number[] = [];
  let start = 0;
  for (let line = 1; start <= bytes.length; line += 1) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      badLines.push(line);
    }
    start = end + 1;
  }
  return { text: bytes.toString('utf8'), badLines };
}

export async function exportProject(
  context: CommandContext,
  options: ExportOptions,
): Promise<number> {
  const client = await context.client('data');
  const { format, output } = options;
  if (output === undefined) {
    const text = withLineEnd((await client.call('export', { format })).text);
    if (context.json && format === 'yaml') context.printJson({ format, text });
    else context.surroundings.stdout.write(context.foreign(text));
    return exitCodes.done;
  }
  const path = resolve(context.directory, output);
  const text =
    format === 'beads'
      ? await writeShared(context, client, path)
      : withLineEnd((await client.call('export', { format })).text);
  if (format !== 'beads') await writeWhole(path, text, null);
  const bytes = Buffer.byteLength(text);
  context.answer({ file: path, format, bytes }, `Wrote ${path} (${bytes} bytes).`);
  return exitCodes.done;
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') || text === '' ? text : `${text}\n`;
}

const sharedTriesMax = 5;

/**
 * Another tool may also write the file, so its content is merged, and merged again if it changes in
 * the meantime.
 */
async function writeShared(context: CommandContext, client: Client, path: string): Promise<string> {
  for (let tries = 0; tries < sharedTriesMax; tries += 1) {
    const present = await readPresent(path);
    const given = present === null ? {} : { present };
    const { text, kept } = await client.call('export', { format: 'beads', ...given });
    if (present !== null && present !== '' && kept === undefined) {
      throw new Refusal('file', `${path} exists and was not merged; export to another file.`);
    }
    if (!(await writeWhole(path, text, present))) continue;
    for (const id of kept ?? []) {
      context.tell(`warning: ${plainLine(id)} is newer in ${path}; it was left as it is.`);
    }
    return text;
  }
  throw new Refusal('file', `${path} is being changed by another program. Try again.`);
}

async function readImport(context: CommandContext, file: string): Promise<Buffer> {
  if (file === '-') return await context.surroundings.readStdin();
  const fault = `The file ${file} cannot be imported`;
  return await readInputFile(resolve(context.directory, file), { bytesMax: fileBytesMax, fault });
}

function tellProblems(context: CommandContext, file: string, result: ImportResultView): void {
  for (const { line, message, id } of result.warnings) {
    context.tell(`warning: ${file}:${line}: ${named(id)}${plainLine(message)}`);
  }
  for (const { line, message, id } of result.errors) {
    context.tell(`${file}:${line}: ${named(id)}${plainLine(message)}`);
  }
}

function named(id: string | null): string {
  return id === null ? '' : `${plainLine(id)}: `;
}

function refusalOf(file: string, result: ImportResultView): string {
  const [first] = result.errors;
  const count = result.errors.length;
  const where = first === undefined ? file : `${file}:${first.line}`;
  const what = first === undefined ? '' : ` ${named(first.id)}${plainLine(first.message)}`;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  const remedy =
    first?.kind === 'differs'
      ? 'use --update or --rename'
      : 'correct the file or use --skip-invalid';
  return `Nothing was imported: ${where}:${what}${more}; ${remedy}.`;
}

function importSentence(file: string, result: ImportResultView, dryRun: boolean): string {
  const { epics, tasks } = result.imported;
  const parts = [`${epics} epics and ${tasks} tasks`];
  if (result.unchanged > 0) parts.push(`${result.unchanged} unchanged`);
  if (result.differs.length > 0) parts.push(`${result.differs.length} differ`);
  if (result.errors.length > 0) parts.push(`${result.errors.length} left out`);
  return `${dryRun ? 'Would import' : 'Imported'} from ${file}: ${parts.join(', ')}.`;
}
