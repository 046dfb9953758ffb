// Searches the stored output of a fleet's agents for words. Only PostgreSQL contains any.

import { sql } from 'kysely';
import type { Db } from '../rows/one-moment.ts';

export interface FoundPart {
  /** The requested log. */
  readonly log: string;
  /** The log itself or one of its segments, and the offset of the part in it. */
  readonly file: string;
  readonly start: number;
  readonly text: string;
  /** Bytes of the file's first line, which is a segment's header. */
  readonly header: number;
}

/**
 * Maximum number of parts per log. A part may contain all words without having them in one line.
 */
const partsOfLogMax = 3;

/**
 * The first parts of each log that contain all words, ignoring case, in log order. `words`: as
 * written in a line of JSON.
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
