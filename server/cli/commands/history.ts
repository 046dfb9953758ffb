// The commands report and at: the history, from the feed and from recorded changes.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import { formatCount } from '../../core/format.ts';
import type { TranscriptHit, TranscriptSearch } from '../../core/history/transcript-search.ts';
import type { CommandContext } from '../context.ts';
import { parseMoment } from '../moments.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

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

export interface SearchOptions {
  readonly limit?: number;
}

const hitsUsually = 50;
/** Maximum number of results per request. */
const hitsMax = 500;

export async function search(
  context: CommandContext,
  words: readonly string[],
  options: SearchOptions,
): Promise<number> {
  const { limit = hitsUsually } = options;
  const client = await context.client('data');
  const hits: TranscriptHit[] = [];
  let searched = 0;
  let after: string | null = null;
  // Each response covers about one second of reading.
  for (;;) {
    const found: TranscriptSearch = await client.call('transcripts.search', {
      words: words.join(' '),
      limit: Math.min(limit - hits.length, hitsMax),
      ...(after !== null && { after }),
    });
    for (const hit of found.hits) context.say(hitLine(hit));
    hits.push(...found.hits);
    searched += found.searched;
    after = found.next;
    if (after !== null && hits.length < limit) continue;
    if (context.json) context.printJson({ hits, searched, attempts: found.attempts });
    else context.tell(searchedLine(hits.length, searched, found.attempts));
    return exitCodes.done;
  }
}

function hitLine({ task_id: id, title, attempt, type, text }: TranscriptHit): string {
  return `${id}  attempt ${attempt}  ${plainLine(title)}\n    ${type}: ${plainLine(text)}`;
}

function searchedLine(found: number, searched: number, attempts: number): string {
  const places = formatCount(found, 'place');
  const of = searched >= attempts ? '' : ` of ${attempts}`;
  return `${found === 0 ? 'Nothing' : places} found in ${formatCount(searched, 'attempt')}${of}.`;
}

export interface AtOptions {
  readonly epic?: string;
}

export type AtView = 'status' | 'board' | 'why';

export interface AtRequest {
  readonly when: string;
  readonly what: AtView;
  readonly id?: string;
}

export async function at(
  context: CommandContext,
  { when, what, id }: AtRequest,
  { epic }: AtOptions,
): Promise<number> {
  const moment = parseMoment(when, context.surroundings.nowMs()) ?? {};
  if (what === 'why') {
    const client = await context.client('data');
    const { reasons } = await client.call('past.why', { ...moment, id: id ?? '' });
    context.answer({ reasons }, reasons.map(plainLine).join('\n'));
    return exitCodes.done;
  }
  const client = await context.client('data');
  const scope = epic === undefined ? {} : { epic };
  const snapshot = await client.call('past.status', { ...moment, ...scope });
  const { showSnapshot } = await import('./status.ts');
  await showSnapshot(context, snapshot, { tree: what === 'board' }, snapshot.at_ms);
  return exitCodes.done;
}

export async function exportTrace(
  context: CommandContext,
  id: string,
  options: ReportOptions,
): Promise<number> {
  const client = await context.client('data');
  const trace = await client.call('trace.export', { id });
  if (options.output === undefined) context.printJson(trace);
  else await writeOutput(context, options.output, `${JSON.stringify(trace)}\n`);
  return exitCodes.done;
}

export async function metrics(
  context: CommandContext,
  { totals }: { readonly totals?: boolean },
): Promise<number> {
  const client = await context.client('data');
  const found = await client.call('metrics', { ...(totals !== undefined && { totals }) });
  context.answer(found, found.text.trimEnd());
  return exitCodes.done;
}
