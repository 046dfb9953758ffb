// Records the values of rows before each change, by triggers of this connection.
//
// The triggers are temporary, so they can identify each transaction by a number that only this
// connection knows. A program that opens the file without Drover records nothing. Their columns are
// the current ones of the tables.

import type { DatabaseSync } from 'node:sqlite';
import {
  numberedTables,
  pastlessColumns,
  type PastKept,
  pastTables,
} from '../schema/past-tables.ts';
import { transactionNumber } from './driver.ts';

const countBits = 2 ** 32;

export function keepPast(database: DatabaseSync): void {
  const base = (process.pid % 2 ** 20) * countBits;
  let alone = 0;
  database.function('drover_transaction', () => {
    // A statement outside of a transaction counts as a transaction by itself.
    if (!database.isTransaction) alone -= 1;
    return base + (database.isTransaction ? transactionNumber(database) : countBits + alone);
  });
  const statements = [...pastTables.flatMap((kept) => triggersOf(database, kept)), eventTrigger];
  database.exec(statements.join(';\n'));
}

const eventTrigger = `create temp trigger past_of_events after insert on main.events begin
  insert or replace into past_events (seq, n, tx)
  values (new.seq, coalesce((select max(n) from past), 0), drover_transaction());
end`;

function triggersOf(database: DatabaseSync, { table, key }: PastKept): readonly string[] {
  const columns = columnsOf(database, table);
  const kept = columns.filter((name) => !pastlessColumns.includes(name));
  const whole = [...columns, ...(numberedTables.has(table) ? ['rowid'] : [])];
  const pairs = whole.map((name) => `'${name}', old."${name}"`).join(', ');
  const differs = kept.map((name) => `old."${name}" is not new."${name}"`);
  const changed = kept.map(
    (name, at) => `select '${name}' as k, old."${name}" as v where ${differs[at]}`,
  );
  const keyOf = (row: 'old' | 'new'): string =>
    `json_array(${key.map((name) => `${row}."${name}"`).join(', ')})`;
  const entry = (op: string, row: 'old' | 'new', old: string): string =>
    `insert into past (tx, op, tbl, key, old)
      values (drover_transaction(), '${op}', '${table}', ${keyOf(row)}, ${old});`;
  return [
    `create temp trigger past_of_new_${table} after insert on main.${table} begin
      ${entry('insert', 'new', 'null')} end`,
    `create temp trigger past_of_old_${table} after delete on main.${table} begin
      ${entry('delete', 'old', `json_object(${pairs})`)} end`,
    `create temp trigger past_of_${table} after update on main.${table}
      when ${differs.join(' or ')} begin
      ${entry('update', 'new', `(select json_group_object(k, v) from (${changed.join(' union all ')}))`)} end`,
  ];
}

function columnsOf(database: DatabaseSync, table: string): readonly string[] {
  const rows = database.prepare('select name from pragma_table_info(?)').all(table);
  return rows.map((row) => String(row['name']));
}
