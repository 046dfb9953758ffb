// Reads several tables in one consistent snapshot, without taking the write lock.

import type { Kysely } from 'kysely';
import { readingTransaction } from '../schema/dialect.ts';
import type { StoreTables } from '../schema/tables.ts';

export type Db = Kysely<StoreTables>;

/**
 * SQLite accepts 32,766 parameters per statement and PostgreSQL 65,535. Lists of ids are split into
 * parts far below that.
 */
export const listPartMax = 5_000;

/**
 * Handles that are inside such a read, because SQLite transactions do not nest and Kysely does not
 * know this one.
 */
const lentNow = new WeakSet<object>();

/**
 * Runs the body on one connection in a read transaction. It sees one snapshot, whatever other
 * transactions write in the meantime.
 */
export async function readAtOneMoment<Lent extends Db, T>(
  db: Lent,
  body: (db: Lent) => Promise<T>,
): Promise<T> {
  if (db.isTransaction || lentNow.has(db)) return body(db);
  // A handle that allows no queries also allows none inside.
  return readingTransaction(db, (at) => {
    lentNow.add(at);
    return body(at as Lent);
  });
}

/** Splits a list into parts. */
export function inParts<T>(list: readonly T[], most = listPartMax): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let start = 0; start < list.length; start += most) {
    parts.push(list.slice(start, start + most));
  }
  return parts;
}

const noTexts: readonly string[] = Object.freeze([]);

/** Cache of parsed lists, because the same few values (mostly labels) recur. */
const knownLists = new Map<string, readonly string[]>();
const knownListsMax = 500;
const knownCharactersMax = 200;

/** Parses a list stored as JSON. Nearly all lists are empty, so that case is free. */
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
