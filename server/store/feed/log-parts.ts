// Stores the logs of a fleet's agents in parts, written by the machine that runs them. Only
// PostgreSQL contains any.
//
// None of these statements takes the write turn (postgres/dialect.ts). Each file has only one
// writer at a time, which the statements themselves ensure, and nothing else in the store depends
// on their changes.

import { sql } from 'kysely';
import type { Db } from '../rows/one-moment.ts';

/**
 * Notifications on this channel name the schema and the log, for all clients that are reading it.
 */
export const outputChannel = 'drover_output';

/**
 * Parts of attempts that ended longer ago are deleted here. Their machine's disk still has them.
 */
export const outputKeptMs = 7 * 24 * 3_600_000;

/** A log by its name relative to the log folder, and the attempt that it belongs to. */
export interface LogName {
  readonly file: string;
  readonly taskId: string;
  readonly attempt: number;
}

const logPattern = /^([A-Za-z0-9][A-Za-z0-9._-]*)\/(\d{1,9})(?:\.[A-Za-z0-9._-]+)?\.ndjson$/;
const beginPattern = /^([^/]+)\/(\d{1,9})\./;

/**
 * Returns null if the name is not that of an attempt's log. Names from a database may only be used
 * as paths after this check.
 */
export function parseLogName(file: string): LogName | null {
  const [, taskId, attempt] = logPattern.exec(file) ?? [];
  if (taskId === undefined || attempt === undefined || file.includes('..')) return null;
  return { file, taskId, attempt: Number(attempt) };
}

/** A part without its text. */
export interface PartPlace {
  readonly start: number;
  readonly size: number;
}

export interface KnownPart extends PartPlace {
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
}

/** Parts that follow the stored ones. All of them are appended, or none. */
export interface PartChain {
  readonly log: LogName;
  /** The log, one of its segments, or its prompt. */
  readonly file: string;
  /** The previous part; null if this is the first. */
  readonly after: PartPlace | null;
  readonly parts: readonly (PartPlace & { readonly text: string })[];
}

const hashOf = sql<string>`encode(sha256(convert_to(p.text, 'UTF8')), 'hex')`;
const nowOfDatabase = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Returns the logs whose attempts still belong to this machine. */
export async function ownLogs(
  db: Db,
  machine: string,
  logs: readonly LogName[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ file: string }>`
    select g.file from unnest(
      ${logs.map((log) => log.file)}::text[], ${logs.map((log) => log.taskId)}::text[],
      ${logs.map((log) => log.attempt)}::bigint[]) as g(file, task_id, number)
    join attempts a on a.task_id = g.task_id and a.number = g.number and a.machine = ${machine}
  `.execute(db);
  return new Set(rows.map((row) => row.file));
}

/** The last part of each file that has any. */
export async function lastParts(
  db: Db,
  files: readonly string[],
): Promise<ReadonlyMap<string, KnownPart>> {
  const { rows } = await sql<KnownPart & { file: string }>`
    select f.file, p.start, p.size, ${hashOf} as hash
    from unnest(${files}::text[]) as f(file) cross join lateral (
      select * from log_parts where file = f.file order by start desc limit 1) as p
  `.execute(db);
  return new Map(rows.map(({ file, ...part }) => [file, part]));
}

/** Parts that start before an offset, last first. */
export async function partsBefore(
  db: Db,
  file: string,
  before: number,
  limit: number,
): Promise<readonly KnownPart[]> {
  return db
    .selectFrom('log_parts as p')
    .select(['p.start', 'p.size', hashOf.as('hash')])
    .where('p.file', '=', file)
    .where('p.start', '<', before)
    .orderBy('p.start', 'desc')
    .limit(limit)
    .execute();
}

/** The stored segments of each log, oldest first. */
export async function storedSegments(
  db: Db,
  logs: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql<{ log: string; file: string }>`
    select l.log, p.file from unnest(${logs}::text[]) as l(log)
    join log_parts p on p.start = 0 and p.file >= l.log || '.0' and p.file < l.log || '.:'
    order by p.file
  `.execute(db);
  const found = new Map<string, string[]>(logs.map((log) => [log, []]));
  for (const { log, file } of rows) {
    if (/^\.\d{16}$/.test(file.slice(log.length))) found.get(log)?.push(file);
  }
  return found;
}

/**
 * Stores all chains in one statement, which is its own transaction, and notifies listeners. Skips a
 * chain whose offset is not the end of the stored output, or whose attempt now belongs to another
 * machine. Resolves with the stored files. If a second writer stores at the same offset, the whole
 * statement fails.
 */
export async function appendParts(
  db: Db,
  machine: string,
  chains: readonly PartChain[],
): Promise<ReadonlySet<string>> {
  const given = chains.flatMap((chain) =>
    chain.parts.map((part) => ({ ...chain, ...part, chainStart: chain.parts[0]?.start ?? 0 })),
  );
  const { rows } = await sql<{ file: string }>`
    with given as (
      select * from unnest(
        ${given.map((part) => part.file)}::text[], ${given.map((part) => part.start)}::bigint[],
        ${given.map((part) => part.size)}::bigint[], ${given.map((part) => part.text)}::text[],
        ${given.map((part) => part.log.file)}::text[], ${given.map((part) => part.log.taskId)}::text[],
        ${given.map((part) => part.log.attempt)}::bigint[],
        ${given.map((part) => part.after?.start ?? -1)}::bigint[],
        ${given.map((part) => part.chainStart)}::bigint[]
      ) as g(file, start, size, text, log, task_id, number, after, chain_start)
    ), taken as (
      insert into log_parts (file, start, size, text, at_ms)
      select g.file, g.start, g.size, g.text, ${nowOfDatabase} from given g
      where exists (select from attempts a
          where a.task_id = g.task_id and a.number = g.number and a.machine = ${machine})
        and (g.chain_start = 0 or exists (select from log_parts p
          where p.file = g.file and p.start = g.after and p.start + p.size = g.chain_start))
      returning file
    ), told as (
      select log, pg_notify(${outputChannel}, current_schema() || ' ' || log) as said
      from (select distinct g.log from given g where g.file in (select file from taken)) as logs
    )
    select distinct file from taken where (select count(said) from told) >= 0
  `.execute(db);
  return new Set(rows.map((row) => row.file));
}

/**
 * Drops the stored parts of a file from an offset on, because the file is shorter or differs. Only
 * if its attempt belongs to this machine.
 */
export async function dropParts(
  db: Db,
  machine: string,
  { log, file, from }: { readonly log: LogName; readonly file: string; readonly from: number },
): Promise<void> {
  await db
    .deleteFrom('log_parts')
    .where('file', '=', file)
    .where('start', '>=', from)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('attempts')
          .select('number')
          .where('task_id', '=', log.taskId)
          .where('number', '=', log.attempt)
          .where('machine', '=', machine),
      ),
    )
    .execute();
}

/** Attempts of a machine whose output may not be completely stored, newest first. */
export async function attemptsToShip(
  db: Db,
  machine: string,
  sinceMs: number,
  max: number,
): Promise<readonly { readonly taskId: string; readonly attempt: number }[]> {
  return db
    .selectFrom('attempts')
    .select(['task_id as taskId', 'number as attempt'])
    .where('machine', '=', machine)
    .where((eb) => eb.or([eb('ended_at_ms', 'is', null), eb('ended_at_ms', '>=', sinceMs)]))
    .orderBy('started_at_ms', 'desc')
    .limit(max)
    .execute();
}

const deletedAtOnce = 200;

/**
 * Deletes output older than the time whose attempt ended before it or no longer exists. Resolves
 * with the number of files.
 */
export async function deleteOldParts(db: Db, beforeMs: number): Promise<number> {
  let deleted = 0;
  for (let after = ''; ;) {
    const old = await db
      .selectFrom('log_parts')
      .select('file')
      .where('start', '=', 0)
      .where('at_ms', '<', beforeMs)
      .where('file', '>', after)
      .orderBy('file')
      .limit(deletedAtOnce)
      .execute();
    const files = old.map((row) => row.file);
    const last = files.at(-1);
    if (last === undefined) return deleted;
    after = last;
    const needed = await neededFiles(db, files, beforeMs);
    const unneeded = files.filter((file) => !needed.has(file));
    // One by one, because each file may have very many parts and the time for one statement is
    // limited.
    for (const file of unneeded)
      await db.deleteFrom('log_parts').where('file', '=', file).execute();
    deleted += unneeded.length;
  }
}

async function neededFiles(
  db: Db,
  files: readonly string[],
  beforeMs: number,
): Promise<ReadonlySet<string>> {
  const named = files.map((file) => {
    const [, taskId = '', attempt = '0'] = beginPattern.exec(file) ?? [];
    return { file, taskId, attempt: Number(attempt) };
  });
  const { rows } = await sql<{ file: string }>`
    select g.file from unnest(
      ${named.map((log) => log.file)}::text[], ${named.map((log) => log.taskId)}::text[],
      ${named.map((log) => log.attempt)}::bigint[]) as g(file, task_id, number)
    join attempts a on a.task_id = g.task_id and a.number = g.number
    where a.ended_at_ms is null or a.ended_at_ms >= ${beforeMs}
  `.execute(db);
  return new Set(rows.map((row) => row.file));
}
