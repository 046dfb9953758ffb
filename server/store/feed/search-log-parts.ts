// Finds stored output of a fleet's agents that contains words. Only a PostgreSQL holds any.

import { sql } from 'kysely';
import type { Db } from '../rows/one-moment.ts';

export interface FoundPart {
  /** The log that was asked for. */
  readonly log: string;
  /** The log itself or one of its segments, and the position of its part in it. */
  readonly file: string;
  readonly start: number;
  readonly text: string;
  /** Bytes of the first line of the file, which is a segment's header. */
  readonly header: number;
}

/** Parts of one log: the words may all be in one without being in one line. */
const partsOfLogMax = 3;

/**
 * The first parts of each log that contain all words, whatever their case, in the order of the
 * log. `words`: as they are written in a line of JSON.
 */
export async function searchLogParts(
  db: Db,
  logs: readonly string[],
  words: readonly string[],
): Promise<readonly FoundPart[]> {
  if (logs.length === 0) return [];
  const patterns = words.map((word) => `%${word.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`);
  const { rows } = await sql<FoundPart>`
    select l.log, p.file, p.start, p.text, coalesce(
      (select strpos(h.text, chr(10)) from log_parts h where h.file = p.file and h.start = 0), 0
    ) as header
    from unnest(${logs}::text[]) as l(log) cross join lateral (
      select file, start, text from log_parts
      where (file = l.log or file >= l.log || '.0' and file < l.log || '.:')
        and text ilike all (${patterns}::text[])
      order by file, start limit ${partsOfLogMax}
    ) as p order by l.log, p.file, p.start
  `.execute(db);
  return rows;
}
