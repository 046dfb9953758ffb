// `drover sync beads`: synchronizes a Beads file and the plan in both directions, once or
// continuously.
//
// The last synchronized state is stored beside the plan. Lines that differ from it are the other
// side's changes and are applied first. Then our records are written, each over its own line. So
// neither side overwrites a new value with an old one.

import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { withOldLines } from '../../core/exchange/beads-base.ts';
import { Refusal } from '../../core/failure.ts';
import type { Client, ImportResultView } from '../../protocol/api.ts';
import { type BeadsProgram, beadsProgram } from '../beads-program.ts';
import { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { plainLine } from '../plain-text.ts';
import { readPresent, writeWhole } from '../shared-file.ts';

export interface SyncOptions {
  readonly watch?: boolean;
}

/** The result of one pass; empty if both sides were equal. */
interface Pass {
  readonly file: string;
  readonly imported: ImportResultView['imported'];
  /** Records of the plan that the file changed. */
  readonly taken: readonly string[];
  /** Running tasks that were canceled because their issues were deleted or given up. */
  readonly cancelled: readonly string[];
  /** True if the file was written. */
  readonly written: boolean;
  /** Ids whose line is newer than the plan and was left unchanged. */
  readonly kept: readonly string[];
  readonly warnings: ImportResultView['warnings'];
}

export async function syncBeads(
  context: CommandContext,
  folder: string,
  options: SyncOptions,
): Promise<number> {
  const file = await fileOf(resolve(context.directory, folder));
  const place = await basePlace(context, file);
  const bd = await beadsProgram(file, place, context.surroundings.env);
  const first = await syncBoth(context, { file, place, bd });
  tell(context, first);
  if (options.watch !== true) return exitCodes.done;
  context.tell(`Watching ${file}. Ctrl-C ends it.`);
  return await untilInterrupted(context, async (end) => {
    let isStopped = false;
    watch(context, { file, place, bd, isStopped: () => isStopped }).catch((error: unknown) => {
      end(error instanceof Error ? error : new Error(String(error)));
    });
    return () => {
      isStopped = true;
    };
  });
}

const fileNames = ['issues.jsonl', 'beads.jsonl'] as const;

/** `folder` contains `.beads`, or is it. */
async function fileOf(folder: string): Promise<string> {
  for (const place of [join(folder, '.beads'), folder]) {
    for (const name of fileNames) {
      if (await exists(join(place, name))) return join(place, name);
    }
  }
  if (await exists(join(folder, '.beads'))) return join(folder, '.beads', fileNames[0]);
  throw new Refusal(
    'file',
    `${folder} has no .beads folder. Run "bd init" there, or name another folder.`,
  );
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/**
 * The path of the last synchronized state, beside the plan. Without that state the whole file is
 * applied, as in an import.
 */
async function basePlace(context: CommandContext, file: string): Promise<string> {
  const name = createHash('sha256').update(file).digest('hex').slice(0, 16);
  const place = join(await context.root(), '.drover', 'beads', `${name}.jsonl`);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  return place;
}

const triesMax = 5;

interface Synced {
  readonly file: string;
  readonly place: string;
  /** Null if `bd` is not installed, so that only the file is synchronized. */
  readonly bd: BeadsProgram | null;
}

/** Synchronizes with `bd`'s database on the other side of the file. */
async function syncBoth(context: CommandContext, synced: Synced): Promise<Pass> {
  const { bd } = synced;
  tellProblem(context, (await bd?.flush()) ?? null);
  const pass = await syncOnce(context, synced);
  if (pass.written) tellProblem(context, (await bd?.take()) ?? null);
  return pass;
}

function tellProblem(context: CommandContext, problem: string | null): void {
  if (problem !== null) context.tell(`warning: ${plainLine(problem)}`);
}

async function syncOnce(context: CommandContext, { file, place, bd }: Synced): Promise<Pass> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const present = (await readPresent(file)) ?? '';
    const base = await readPresent(place);
    const result = await withClient(context, 'data', (client) =>
      client.call('import', {
        text: present,
        bad_utf8_lines: [],
        file,
        format: 'beads',
        update: true,
        base: base ?? '',
      }),
    );
    refuseBad(file, result);
    const cancelled = await cancelUnwanted(context, result.unwanted ?? []);
    const { later = [] } = result;
    const { text, kept = [] } = await withClient(context, 'data', (client) =>
      client.call('export', { format: 'beads', present, leave: later }),
    );
    const isWritten = text !== present;
    if (isWritten) await bd?.willWrite(present, text);
    // The other tool has written in the meantime, so both sides are read again.
    if (isWritten && !(await writeWhole(file, text, present))) continue;
    const settled = withOldLines(text, base ?? '', new Set(later));
    if (settled !== base) await writeWhole(place, settled, null);
    const { imported, differs: taken, warnings } = result;
    return { file, imported, taken, cancelled, written: isWritten, kept, warnings };
  }
  throw new Refusal('file', `${file} is being changed by another program; try again.`);
}

function refuseBad(file: string, { errors }: ImportResultView): void {
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const id = first.id === null ? '' : `${plainLine(first.id)}: `;
  throw new Refusal(
    'bad_import',
    `Nothing was changed: ${file}:${first.line}: ${id}${plainLine(first.message)}${more}; correct the line in Beads.`,
  );
}

async function cancelUnwanted(
  context: CommandContext,
  ids: readonly string[],
): Promise<readonly string[]> {
  for (const id of ids) {
    await withClient(context, 'engine', (client) =>
      client.call('task.cancel', { id, reason: 'Beads: deleted or closed as given up' }),
    );
  }
  return ids;
}

/** Opens a client per request, because a watch outlives backends. */
async function withClient<T>(
  context: CommandContext,
  need: 'data' | 'engine',
  body: (client: Client) => Promise<T>,
): Promise<T> {
  const { surroundings, json, color, directory } = context;
  const call = new CommandContext(surroundings, { json, color, directory });
  try {
    return await body(await call.client(need));
  } finally {
    call.close();
  }
}

interface Watched extends Synced {
  readonly isStopped: () => boolean;
}

const lookEveryMs = 500;
/** How often `bd` writes its database to the file. Some versions do so only once a minute. */
const flushEveryMs = 3_000;

/** Polls the file's time and size and the last event number, and runs a pass if one has changed. */
async function watch(context: CommandContext, watched: Watched): Promise<void> {
  const { file, bd, isStopped } = watched;
  let seen = '';
  let flushedMs = context.surroundings.nowMs();
  while (!isStopped()) {
    if (bd !== null && context.surroundings.nowMs() - flushedMs >= flushEveryMs) {
      await bd.flush();
      flushedMs = context.surroundings.nowMs();
    }
    const now = await signsOf(context, file);
    const startMs = context.surroundings.nowMs();
    if (now !== seen) {
      const pass = await passOrReport(context, watched);
      flushedMs = context.surroundings.nowMs();
      if (pass !== null) tell(context, pass, true);
      // The state before the pass, so that changes during it are detected next time.
      seen = now;
    }
    const tookMs = context.surroundings.nowMs() - startMs;
    await context.surroundings.sleep(Math.max(lookEveryMs, tookMs * 4));
  }
}

async function signsOf(context: CommandContext, file: string): Promise<string> {
  const facts = await stat(file, { bigint: true }).catch(() => null);
  const seq = await withClient(context, 'data', async (client) => {
    return (await client.call('events.read', { after: Number.MAX_SAFE_INTEGER, limit: 1 })).seq;
  }).catch(() => -1);
  return `${facts?.mtimeNs ?? 0}/${facts?.size ?? 0}/${facts?.ino ?? 0}/${seq}`;
}

/** Reports a half-written or refused file once, and reads it again when it changes. */
async function passOrReport(context: CommandContext, watched: Watched): Promise<Pass | null> {
  try {
    return await syncBoth(context, watched);
  } catch (error) {
    context.tell(`drover: ${plainLine(error instanceof Error ? error.message : String(error))}`);
    return null;
  }
}

function tell(context: CommandContext, pass: Pass, isWatching = false): void {
  const { imported, taken, cancelled, written, kept, warnings, file } = pass;
  const isNews = imported.epics + imported.tasks + taken.length + cancelled.length > 0 || written;
  // The first pass reported bad lines. Warnings about current events have no line.
  for (const { line, id, message } of warnings) {
    if (isWatching && line > 0) continue;
    const where = line === 0 ? '' : `${file}:${line}: `;
    context.tell(
      `warning: ${where}${id === null ? '' : `${plainLine(id)}: `}${plainLine(message)}`,
    );
  }
  if (isWatching && !isNews) return;
  const parts = [`${imported.tasks} new tasks`, `${taken.length} changed`];
  if (cancelled.length > 0) parts.push(`canceled ${cancelled.join(', ')}`);
  if (kept.length > 0) parts.push(`newer in the file: ${kept.join(', ')}`);
  const state = written ? 'The file was written.' : 'The file is up to date.';
  context.answer(pass, plainLine(`${file}: ${parts.join(', ')}. ${state}`));
}
