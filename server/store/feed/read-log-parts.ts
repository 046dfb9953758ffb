// Reads the output of a fleet's agents, to copy it to the disk of a machine that displays it.

import { sql } from 'kysely';
import type { PartPlace } from './log-parts.ts';
import type { Db } from '../rows/one-moment.ts';

/** The last part of a file. While it is the same, nothing was added or replaced. */
export interface StoredEnd extends PartPlace {
  readonly file: string;
  readonly at_ms: number;
}

/**
 * The prompt of a log, the log, and its segments from the oldest on, as far as they are stored. One
 * consistent read.
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
  /** Null if the part starts before the requested offset. */
  readonly text: string | null;
}

/** Maximum number of parts to read at once, because they may be large or many. */
const partsAtOnce = 2_000;

export interface PartRange {
  readonly end: number;
  readonly textsFrom: number;
  /** Approximate limit in bytes; at least two parts are read. */
  readonly bytesMax: number;
}

/**
 * Reads the part that contains the byte before `end`, if any, and the parts after it. One
 * consistent read.
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

/** The machine's display name, or its id if the name is no longer known. */
export async function machineName(db: Db, id: string): Promise<string> {
  const row = await db
    .selectFrom('machines')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.name ?? id;
}
