// The state that a refused command must not change: the database's content, the refs, the checkout,
// and all surrounding files.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { removeFolder } from '../../../remove-folder.ts';
import type { Place } from './place.ts';

/** Names with their values, compared as a whole, so that a difference shows its name. */
export type Snapshot = Readonly<Record<string, string>>;

/** A running backend's address, lock and logs; and SQLite's own files beside a database. */
const notContent = /^\.drover\/(?:backend\.[\w.-]+|logs(?:\/.*)?)$|\.db-(?:wal|shm|journal)$/;

/** The user's list of projects: a backend adds its own when it starts. */
const listOfProjects = /^home\/\.local\/(?:state\/(?:drover\/.*)?)?$/;

export function snapshotOf(place: Place): Snapshot {
  return {
    ...filesOf(place.root, (path) => !path.startsWith('.git/') && !notContent.test(path)),
    ...named(
      'around',
      filesOf(place.folder, (path) => !path.startsWith('repo/') && !listOfProjects.test(path)),
    ),
    ...named('git', gitOf(place.root)),
    ...named('database', databaseOf(place.database)),
  };
}

function named(prefix: string, part: Snapshot): Snapshot {
  const entries = Object.entries(part).map(([name, value]) => [`${prefix}: ${name}`, value]);
  return Object.fromEntries(entries) as Snapshot;
}

const skippedFolders: ReadonlySet<string> = new Set(['.git', '.drover/logs']);

function filesOf(top: string, isWanted: (path: string) => boolean): Snapshot {
  const found: Record<string, string> = {};
  const visit = (folder: string): void => {
    for (const name of namesIn(folder)) {
      const full = join(folder, name);
      const path = relative(top, full).replaceAll('\\', '/');
      const facts = lstatSync(full);
      if (facts.isDirectory()) {
        if (isWanted(`${path}/`)) found[`${path}/`] = 'folder';
        if (!skippedFolders.has(path) && isWanted(`${path}/`)) visit(full);
      } else if (isWanted(path) && !path.endsWith('.db')) {
        found[path] = facts.isSymbolicLink()
          ? `link ${readlinkSync(full)}`
          : facts.isFile()
            ? digest(full)
            : `special ${facts.mode}`;
      }
    }
  };
  visit(top);
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function digest(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
  } catch {
    return 'cannot be read';
  }
}

function gitOf(root: string): Snapshot {
  const git = (args: readonly string[]): string => {
    try {
      return execFileSync('git', ['--no-optional-locks', ...args], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
      });
    } catch {
      return 'refused';
    }
  };
  return {
    refs: git(['for-each-ref', '--format=%(objectname) %(refname)']),
    index: git(['ls-files', '--stage']),
    status: git(['status', '--porcelain=v2', '--untracked-files=all']),
    head: digest(join(root, '.git', 'HEAD')),
    config: digest(join(root, '.git', 'config')),
    exclude: digest(join(root, '.git', 'info', 'exclude')),
    worktrees: namesIn(join(root, '.git', 'worktrees')).join(' '),
  };
}

/**
 * Every row of every table; or the bytes of a file that is not a valid database. Read from a copy,
 * because a reader would leave files beside the original and wait for its locks.
 */
function databaseOf(path: string): Snapshot {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return { file: 'no file' };
  const folder = mkdtempSync(join(tmpdir(), 'drover-snapshot-'));
  let database: DatabaseSync | null = null;
  try {
    const copy = join(folder, 'copy.db');
    copyFileSync(path, copy);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
    database = new DatabaseSync(copy);
    return rowsOf(database);
  } catch {
    return { bytes: digest(path) };
  } finally {
    database?.close();
    removeFolder(folder);
  }
}

function rowsOf(database: DatabaseSync): Snapshot {
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .all() as { name: string }[];
  const version = database.prepare('pragma user_version').get();
  const content: Record<string, string> = { version: JSON.stringify(version) };
  for (const { name } of tables) {
    const rows = database.prepare(`select * from "${name.replaceAll('"', '""')}"`).all();
    content[name] = JSON.stringify(rows);
  }
  return content;
}
