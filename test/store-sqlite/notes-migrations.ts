// Three schema versions of a small database, for the tests of the migration runner.

import { sql } from 'kysely';
import type { MigrateOptions, Migration } from '../../server/store/sqlite/migrate.ts';

const all: readonly Migration[] = [
  {
    version: 1,
    name: 'notes',
    async up(db) {
      await sql`create table notes (id integer primary key, text text)`.execute(db);
      await sql`
        create table marks (
          id integer primary key,
          note_id integer not null references notes (id) on delete cascade
        )`.execute(db);
    },
  },
  {
    version: 2,
    name: 'notes have a title',
    async up(db) {
      await db.schema
        .alterTable('notes')
        .addColumn('title', 'text', (column) => column.notNull().defaultTo('untitled'))
        .execute();
    },
  },
  {
    version: 3,
    name: 'notes are rebuilt',
    async up(db) {
      await sql`create table rebuilt (id integer primary key, text text not null)`.execute(db);
      await sql`insert into rebuilt select id, coalesce(text, '') from notes`.execute(db);
      await sql`drop table notes`.execute(db);
      await sql`alter table rebuilt rename to notes`.execute(db);
    },
  },
];

export function notesMigrations(version: number): MigrateOptions {
  const migrations = all.filter((migration) => migration.version <= version);
  return { migrations, version, now: () => 1_800_000_000_123 };
}
