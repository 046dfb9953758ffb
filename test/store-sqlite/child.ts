// A second process for the tests of files: opens, migrates or locks as its one JSON argument says.

import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { acquireExclusive } from '../../server/store/sqlite/exclusive.ts';
import { migrate } from '../../server/store/sqlite/migrate.ts';
import { openSqlite } from '../../server/store/sqlite/open.ts';
import { notesMigrations } from './notes-migrations.ts';

export type ChildOrders =
  | { readonly act: 'migrate'; readonly path: string; readonly version: number }
  | { readonly act: 'lock'; readonly path: string }
  | { readonly act: 'read'; readonly path: string };

function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

async function inputEnded(): Promise<void> {
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
}

async function main(orders: ChildOrders): Promise<void> {
  switch (orders.act) {
    case 'migrate': {
      tell('ready');
      await inputEnded();
      const opened = openSqlite(orders.path);
      const outcome = await migrate(opened, notesMigrations(orders.version));
      await opened.close();
      tell(JSON.stringify(outcome));
      return;
    }
    case 'lock': {
      const lock = acquireExclusive(orders.path);
      tell(lock === null ? 'refused' : 'locked');
      await inputEnded();
      lock?.release();
      return;
    }
    case 'read': {
      const reader = new DatabaseSync(orders.path, { readOnly: true });
      reader.exec('begin; select count(*) from sqlite_schema');
      tell('reading');
      await inputEnded();
      reader.close();
      return;
    }
  }
}

await main(JSON.parse(process.argv[2] ?? '') as ChildOrders);
