// Reads the output of a fleet's agents, for a copy on the disk of a machine that shows it.

import { sql } from 'kysely';
import type { PartPlace } from './log-parts.ts';
import type { Db } from '../rows/one-moment.ts';

/** The last part of a file; as long as it is that one, nothing has been added or replaced. */
export interface StoredEnd extends PartPlace {
  readonly file: string;
  readonly at_ms: number;
}

/**
 * The prompt of a log, the log, and its segments from the oldest on, as far as they are stored: of
 * one moment.
 */
export async function storedFiles(db: Db, log: string): Promise<readonly StoredEnd[]> {
  const { rows } = await sql<StoredEnd>`
    select f.file, p.start, p.size, p.at_ms from (
      select 1 as place, ${`${log}.prompt`}::text as file
      union all select 2, ${log}::text
      union all select 3, file from log_parts
        where start = 0 and file >= ${`${log}.0`} and file < ${`${log}.:`}
    ) as f cross join lateral (
      select start, size, at_ms from log_parts where file = f.file order by start desc limit 1
    ) as p order by f.place, f.file
  `.execute(db);
  return rows.filter(({ file }) => /^(|\.prompt|\.\d{16})$/.test(file.slice(log.length)));
}

export interface ReadPart extends PartPlace {
  readonly at_ms: number;
  /** Null if it starts before the offset from which texts were requested. */
  readonly text: string | null;
}

/** Maximum number of chunks to read for one answer; either each is large or many are small. */
const partsAtOnce = 2_000;

export interface PartRange {
  readonly end: number;
  readonly textsFrom: number;
  /** About so many bytes, but at least two parts. */
  readonly bytesMax: number;
}

/**
 * The part in which the byte before `end` is, if there is one, and those after it: of one moment.
 */
export async function readParts(
  db: Db,
  file: string,
  range: PartRange,
): Promise<readonly ReadPart[]> {
  const { rows } = await sql<ReadPart>`
    select p.start, p.size, p.at_ms, case when p.start >= ${range.textsFrom} then p.text end as text
    from (
      select file, start, row_number() over sizes as place, sum(size) over sizes - size as before
      from (
        select file, start, size from log_parts where file = ${file} and start >= coalesce(
          (select max(start) from log_parts where file = ${file} and start < ${range.end}), 0)
        order by start limit ${partsAtOnce}
      ) as near window sizes as (order by start)
    ) as list join log_parts as p on p.file = list.file and p.start = list.start
    where list.place <= 2 or list.before < ${range.bytesMax}::bigint order by p.start
  `.execute(db);
  return rows;
}

/** Its display name, or its id if that is no longer known. */
export async function machineName(db: Db, id: string): Promise<string> {
  const row = await db
    .selectFrom('machines')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.name ?? id;
}
