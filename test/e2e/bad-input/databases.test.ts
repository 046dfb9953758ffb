// Databases that cannot be used: damaged, newer, read-only, on a full disk, locked by another
// process.

import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { check, type Row } from './support/check.ts';
import { mountSmallDisk } from './support/disks.ts';
import { shareOf, table } from './support/lanes.ts';
import type { Place } from './support/place.ts';

const demo = { env: { DROVER_AGENT_TYPE: 'demo' } };

/** Commands that read, write and start a backend all report the same. */
function broken(
  title: string,
  prepare: NonNullable<Row['prepare']>,
  words: Row['words'],
  kind = 'database',
): readonly Row[] {
  const calls: readonly (readonly string[])[] = [['status'], ['add', 'Greet'], ['run']];
  return calls.map((args) => ({
    title: `${args[0] ?? ''}: ${title}`,
    prepare,
    args,
    call: demo,
    code: 3,
    kind,
    words: ['drover.db', ...words],
  }));
}

function withoutJournal(place: Place): void {
  for (const end of ['-wal', '-shm']) rmSync(`${place.database}${end}`, { force: true });
}

function change(place: Place, sql: string): void {
  const database = new DatabaseSync(place.database);
  database.exec(sql);
  database.close();
}

/** Overwrites pages in the middle, so that the header still looks valid. */
function scratch(place: Place): void {
  withoutJournal(place);
  const bytes = readFileSync(place.database);
  bytes.fill(0x5a, 8_192, 8_192 + 40_960);
  writeFileSync(place.database, bytes);
}

const damaged: readonly Row[] = [
  ...broken('a scratched database', scratch, ['damaged', 'nothing was changed', 'Move it away']),
  ...broken(
    'a text file as database',
    (place) => {
      withoutJournal(place);
      writeFileSync(place.database, 'This is no database.\n'.repeat(100));
    },
    ['not a database', 'nothing was changed', 'Move it away'],
  ),
  ...broken(
    'a database cut in half',
    (place) => {
      withoutJournal(place);
      truncateSync(place.database, Math.floor(readFileSync(place.database).length / 2));
    },
    ['damaged', 'nothing was changed'],
  ),
  ...broken(
    'a database of a newer version',
    (place) => change(place, 'pragma user_version = 99'),
    ['version 99', 'Update Drover'],
    'newer database',
  ),
  ...broken(
    'a database of another program',
    (place) => change(place, 'pragma user_version = 0; alter table tasks rename to chores'),
    ['nothing was changed', /other|another/],
  ),
  ...broken(
    'a folder as database',
    (place) => {
      withoutJournal(place);
      rmSync(place.database);
      mkdirSync(place.database);
    },
    ['cannot be opened', 'folder'],
  ),
  {
    title: 'init over a text file',
    base: 'repository',
    prepare: (place) => {
      mkdirSync(join(place.root, '.drover'));
      writeFileSync(place.database, 'mine\n'.repeat(1_000));
      // Init's additions for git are not changes to the user's own files.
      writeFileSync(join(place.root, '.drover.toml'), '# mine\n');
      mkdirSync(join(place.root, '.git', 'info'), { recursive: true });
      writeFileSync(join(place.root, '.git', 'info', 'exclude'), '/.drover/\n');
    },
    args: ['init'],
    code: 3,
    kind: 'database',
    words: ['drover.db', 'not a database', 'Move it away'],
  },
];

/** Runs as a user to whom permissions apply; root is not tested. */
function bound(
  title: string,
  prepare: (place: Place) => void,
  args: readonly string[],
  words: Row['words'],
): Row {
  return {
    title,
    prepare,
    args,
    call: { ...demo, isBound: true },
    code: 3,
    words: [...words, /writable|readable/],
  };
}

const readOnlyFile = (place: Place): void => {
  withoutJournal(place);
  chmodSync(place.database, 0o444);
};
const readOnlyFolder = (place: Place): void => {
  withoutJournal(place);
  chmodSync(join(place.root, '.drover'), 0o555);
};

const permissions: readonly Row[] = [
  bound('add to a read-only file', readOnlyFile, ['add', 'Greet'], ['drover.db', 'written']),
  bound('run with a read-only file', readOnlyFile, ['run'], ['drover.db', 'written']),
  bound('add in a read-only folder', readOnlyFolder, ['add', 'Greet'], ['drover.db']),
  bound('run in a read-only folder', readOnlyFolder, ['run'], ['.drover']),
  bound(
    'an unreadable database',
    (place) => {
      withoutJournal(place);
      chmodSync(place.database, 0o000);
    },
    ['status'],
    ['drover.db'],
  ),
  bound(
    'an unreadable project folder',
    (place) => chmodSync(join(place.root, '.drover'), 0o000),
    ['status'],
    ['.drover'],
  ),
  {
    ...bound(
      'init in a read-only repository',
      (place) => chmodSync(place.root, 0o555),
      ['init'],
      ['repo', 'written'],
    ),
    base: 'repository',
  },
  {
    ...bound(
      'an unreadable description file',
      (place) => {
        writeFileSync(join(place.folder, 'notes.md'), 'x');
        chmodSync(join(place.folder, 'notes.md'), 0o000);
      },
      ['add', 'Greet', '--description-file', '../notes.md'],
      ['notes.md'],
    ),
    kind: 'file',
  },
  {
    ...bound(
      'an unreadable .drover.toml',
      (place) => {
        writeFileSync(join(place.root, '.drover.toml'), 'max_workers = 1\n');
        chmodSync(join(place.root, '.drover.toml'), 0o000);
      },
      ['run'],
      ['.drover.toml', 'EACCES'],
    ),
    kind: 'bad_configuration',
  },
];

const full: readonly Row[] = [['add', 'Greet'], ['import', '../many.jsonl'], ['run']].map(
  (args) => ({
    title: `${args[0] ?? ''} on a full disk`,
    prepare: (place) => {
      const records = Array.from({ length: 2_000 }, (_, index) =>
        JSON.stringify({ type: 'story', id: `M-${index}`, title: `Task ${index}` }),
      );
      writeFileSync(join(place.folder, 'many.jsonl'), records.join('\n'));
      return mountSmallDisk(place);
    },
    args,
    call: demo,
    code: 3 as const,
    kind: 'database',
    words: ['drover.db', 'space', 'Free some space'],
  }),
);

/** Another writer that does not finish: a connection of this test. */
function held(place: Place): () => void {
  const database = new DatabaseSync(place.database);
  database.exec('begin exclusive');
  return () => database.close();
}

const locked: readonly Row[] = [
  {
    title: 'add while somebody else writes',
    prepare: held,
    args: ['add', 'Greet'],
    code: 3,
    kind: 'database',
    words: ['drover.db', 'locked by another process', 'wait'],
  },
];

// A small disk can be created quickly only here.
const disks = process.platform === 'linux' ? full : [];

table('damaged databases', shareOf(damaged), check);
table('databases that cannot be written', [...locked, ...permissions, ...disks], check);
