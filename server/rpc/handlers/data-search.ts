// Searches transcripts: the logs of the latest attempts, for a limited time.

import { join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import { searchWords } from '../../core/history/search-words.ts';
import type { TranscriptHit, TranscriptSearch } from '../../core/history/transcript-search.ts';
import type { Handlers } from '../../protocol/api.ts';
import {
  attemptsToSearch,
  countAttempts,
  type SearchedAfter,
  type SearchedAttempt,
  type SearchedPart,
} from '../../store/history/searched-attempts.ts';
import { attemptLogFile } from '../../store/work/attempt-log.ts';
import type { DataFoundLine, DataHandlerDeps } from './data-deps.ts';

const hitsAtOnce = 50;
const attemptsAtOnce = 50;
const searchCharsMax = 200;
/** Maximum time per response. The next request continues. */
const searchMaxMs = 900;

interface SearchedLog {
  readonly attempt: SearchedAttempt;
  readonly part: SearchedPart;
  /** Relative to the log folder. */
  readonly file: string;
}

export function searchHandlers(deps: DataHandlerDeps): Pick<Handlers, 'transcripts.search'> {
  return {
    'transcripts.search': async ({ words: search, after, limit = hitsAtOnce }) => {
      const words = searchWords(search.slice(0, searchCharsMax));
      if (words.length === 0) throw new Refusal('bad_request', '"words" contains no word.');
      return searchFrom(deps, words, { place: after === undefined ? null : placeOf(after), limit });
    },
  };
}

async function searchFrom(
  deps: DataHandlerDeps,
  words: readonly string[],
  { place, limit }: { readonly place: SearchedAfter | null; readonly limit: number },
): Promise<TranscriptSearch> {
  const { db, sources } = deps.store;
  const endMs = sources.clock.now() + searchMaxMs;
  const attempts = await countAttempts(db);
  const hits: TranscriptHit[] = [];
  let searched = 0;
  for (let after = place; ;) {
    const batch = await attemptsToSearch(db, after, attemptsAtOnce);
    const found: Found = new Map();
    const logs: SearchedLog[] = [];
    for (const attempt of batch) {
      const own = logsOf(attempt);
      for (const log of own) await findHere(deps, log, { words, found });
      logs.push(...own);
      after = attempt;
      searched += 1;
      if (hits.length + found.size >= limit || sources.clock.now() >= endMs) break;
    }
    await findElsewhere(deps, logs, { words, found });
    hits.push(...logs.flatMap((log) => hitOf(log, found)));
    const isAll = batch.length < attemptsAtOnce && after === (batch.at(-1) ?? after);
    const isOver = hits.length >= limit || sources.clock.now() >= endMs;
    if (isAll || isOver) return { hits, searched, attempts, next: isAll ? null : textOf(after) };
  }
}

type Found = Map<SearchedLog, DataFoundLine>;

interface Finding {
  readonly words: readonly string[];
  readonly found: Found;
}

function logsOf(attempt: SearchedAttempt): readonly SearchedLog[] {
  const { taskId, number, parts } = attempt;
  return parts.map((part) => ({ attempt, part, file: attemptLogFile(taskId, number, part.id) }));
}

async function findHere(
  { log: logs, logs: folder }: DataHandlerDeps,
  log: SearchedLog,
  { words, found }: Finding,
): Promise<void> {
  const line = await logs.find(join(folder, log.file), words);
  if (line !== null) found.set(log, line);
}

/** Searches logs that this disk does not have, or only in part. */
async function findElsewhere(
  { output }: DataHandlerDeps,
  logs: readonly SearchedLog[],
  { words, found }: Finding,
): Promise<void> {
  const others = logs.filter((log) => !found.has(log));
  const asked = others.map(({ file, attempt }) => ({ file, machine: attempt.machine }));
  const lines = await output.find(asked, words);
  for (const log of others) {
    const line = lines.get(log.file);
    if (line !== undefined) found.set(log, line);
  }
}

function hitOf(log: SearchedLog, found: Found): readonly TranscriptHit[] {
  const line = found.get(log);
  if (line === undefined) return [];
  const { attempt, part } = log;
  return [
    {
      task_id: part.id,
      title: part.title,
      attempt: attempt.number,
      run_id: attempt.runId,
      agent: attempt.agent,
      at_ms: line.at,
      offset: line.offset,
      type: line.type,
      text: line.excerpt,
    },
  ];
}

function textOf(place: SearchedAfter | null): string | null {
  return place === null ? null : `${place.startedMs} ${place.number} ${place.taskId}`;
}

function placeOf(text: string): SearchedAfter {
  const [, startedMs, number, taskId] = /^(\d{1,15}) (\d{1,9}) (\S{1,200})$/u.exec(text) ?? [];
  if (taskId === undefined)
    throw new Refusal('bad_request', '"after" must be the "next" of an earlier search.');
  return { startedMs: Number(startedMs), number: Number(number), taskId };
}
