// Reading several tables at one moment, without taking the write lock.

import type { Kysely } from 'kysely';
import { readingTransaction } from '../schema/dialect.ts';
import type { StoreTables } from '../schema/tables.ts';

export type Db = Kysely<StoreTables>;

/**
 * SQLite takes 32,766 parameters in one statement, PostgreSQL 65,535; lists of ids are cut into
 * parts far below that.
 */
export const listPartMax = 5_000;

/** Lent for one moment: transactions of SQLite do not nest, and Kysely knows none of these. */
const lentNow = new WeakSet<object>();

/**
 * Runs the body on one connection inside a read transaction: it sees one snapshot, whatever other
 * transactions write at the same time.
 */
export async function readAtOneMoment<Lent extends Db, T>(
  db: Lent,
  body: (db: Lent) => Promise<T>,
): Promise<T> {
  if (db.isTransaction || lentNow.has(db)) return body(db);
  // A handle that is closed for queries stays closed inside.
  return readingTransaction(db, (at) => {
    lentNow.add(at);
    return body(at as Lent);
  });
}

/** Cuts a list into parts. */
export function inParts<T>(list: readonly T[], most = listPartMax): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let start = 0; start < list.length; start += most) {
    parts.push(list.slice(start, start + most));
  }
  return parts;
}

const noTexts: readonly string[] = Object.freeze([]);

/** Lists that were parsed before: the same few (labels above all) come again and again. */
const knownLists = new Map<string, readonly string[]>();
const knownListsMax = 500;
const knownCharactersMax = 200;

/** A list stored as JSON text; nearly all of them are empty, so that case costs nothing. */
export function textList(json: string | null): readonly string[] {
  if (json === null || json === '' || json === '[]') return noTexts;
  if (json.length > knownCharactersMax) return parsedList(json);
  const known = knownLists.get(json);
  if (known !== undefined) return known;
  const list = Object.freeze(parsedList(json));
  if (knownLists.size >= knownListsMax) knownLists.clear();
  knownLists.set(json, list);
  return list;
}

function parsedList(json: string): string[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : [];
}
