// report: what has happened, told from the feed.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

export interface ReportOptions {
  readonly html?: boolean;
  readonly output?: string;
}

export async function report(
  context: CommandContext,
  id: string,
  options: ReportOptions,
): Promise<number> {
  const client = await context.client('data');
  const found = await client.call('report', { id });
  if (context.json) {
    context.printJson(found);
    return exitCodes.done;
  }
  const { reportHtml, reportMarkdown } = await import('../render/report.ts');
  const text = options.html === true ? reportHtml(found) : reportMarkdown(found);
  if (options.output === undefined) context.say(context.foreign(text).trimEnd());
  else await writeOutput(context, options.output, text);
  return exitCodes.done;
}

async function writeOutput(context: CommandContext, file: string, text: string): Promise<void> {
  const path = resolve(context.directory, file);
  try {
    await writeFile(path, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal('file', `Cannot write ${path}: ${reason}.`);
  }
  context.tell(`Wrote ${path}.`);
}
