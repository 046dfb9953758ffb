// Reads a design: files, folders of text files, or standard input, up to a limit.

import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Refusal } from '../core/failure.ts';
import type { SpecPlanRequest } from '../protocol/spec-plan.ts';
import type { CommandContext } from './context.ts';
import { readInputFile, textOfBytes } from './read-input.ts';

const fileBytesMax = 1024 * 1024;
const filesMax = 100;

export async function readDesign(
  context: CommandContext,
  names: readonly string[],
): Promise<SpecPlanRequest['documents']> {
  const files: string[] = [];
  for (const name of names) files.push(...(await filesOf(context, name)));
  if (files.length > filesMax) {
    throw new Refusal(
      'file',
      `These are ${files.length} files, and at most ${filesMax} can be planned at once; name fewer.`,
    );
  }
  const documents: { name: string; text: string }[] = [];
  for (const name of files) {
    const fault = `The design ${name === '-' ? 'on standard input' : name} cannot be read`;
    const limits = { bytesMax: fileBytesMax, fault };
    const bytes =
      name === '-'
        ? await context.surroundings.readStdin()
        : await readInputFile(resolve(context.directory, name), limits);
    documents.push({ name: name === '-' ? 'design' : name, text: textOfBytes(bytes, limits) });
  }
  return documents;
}

/** Lists the Markdown and text files of a folder, by name. */
async function filesOf(context: CommandContext, name: string): Promise<readonly string[]> {
  if (name === '-') return [name];
  const path = resolve(context.directory, name);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [name];
  const entries = await readdir(path, { withFileTypes: true });
  const texts = entries
    .filter((entry) => entry.isFile() && /\.(?:md|txt)$/iu.test(entry.name))
    .map((entry) => entry.name)
    .toSorted();
  if (texts.length > 0) return texts.map((text) => join(name, text));
  throw new Refusal('file', `The folder ${name} has no .md or .txt file. Name a file.`);
}
