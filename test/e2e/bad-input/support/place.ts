// A fresh place for each row: a folder with a repository and a home, copied from one that was
// created once.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { removeFolder } from '../../../remove-folder.ts';
import { runDrover } from './command.ts';

export interface Place {
  /** Contains everything that belongs to the place. */
  readonly folder: string;
  readonly root: string;
  readonly home: string;
  readonly database: string;
}

/**
 * `project`: with the plan below. `empty`: a project without tasks. `repository`: only git, with a
 * commit. `folder`: not even git.
 */
export type Base = 'project' | 'empty' | 'repository' | 'folder';

/** Ids of the plan, each named by its role. */
const plan: readonly object[] = [
  { type: 'epic', id: 'EPIC-1', title: 'Speak French' },
  { type: 'story', id: 'A', title: 'Greet in French', epic_id: 'EPIC-1' },
  { type: 'story', id: 'B', title: 'Translate the rest', epic_id: 'EPIC-1', blocked_by: ['A'] },
  { type: 'story', id: 'C', title: 'Describe it', epic_id: 'EPIC-1', blocked_by: ['B'] },
  { type: 'story', id: 'PARENT', title: 'Print a receipt' },
  { type: 'task', id: 'SUB', title: 'Sum the items up', parent_id: 'PARENT' },
  { type: 'task', id: 'SUBSUB', title: 'Round the sum', parent_id: 'SUB' },
  { type: 'story', id: 'COMPLETED', title: 'Add a type for money' },
  { type: 'story', id: 'FAILED', title: 'Read amounts' },
  { type: 'story', id: 'CANCELLED', title: 'Read amounts aloud' },
  { type: 'story', id: 'PAUSED', title: 'Read dates' },
];

const states = `
  update tasks set status = lower(id) where id in ('COMPLETED', 'FAILED', 'CANCELLED', 'PAUSED');
  update tasks set attempts = 3, last_error = 'the agent ended with 1' where id = 'FAILED';
  insert into questions (id, task_id, attempt, request_id, kind, text, choices, state, asked_at_ms)
    values ('Q-OPEN', 'FAILED', 1, 'r1', 'review', 'Keep the old reader?', '["keep","remove"]', 'open', 1),
           ('Q-CLOSED', 'FAILED', 1, 'r2', 'question', 'Which one?', '["a","b"]', 'answered', 1);`;

/** Folders created from these are removed when the process exits. */
const top = realpathSync(mkdtempSync(join(tmpdir(), 'drover-bad-input-')));
// Some rows run as another user.
chmodSync(top, 0o755);
process.on('exit', () => removeFolder(top));

function placeIn(folder: string): Place {
  const root = join(folder, 'repo');
  return { folder, root, home: join(folder, 'home'), database: join(root, '.drover', 'drover.db') };
}

export function git(place: Place, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: place.root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', HOME: place.home, GIT_CONFIG_NOSYSTEM: '1' },
  });
}

async function droverOrThrow(place: Place, args: readonly string[]): Promise<void> {
  const ended = await runDrover({ args, cwd: place.root, home: place.home });
  if (ended.code !== 0) throw new Error(`drover ${args.join(' ')}: ${ended.stderr}`);
}

async function makeTemplate(base: Base): Promise<Place> {
  const place = placeIn(join(top, `template-${base}`));
  mkdirSync(place.root, { recursive: true });
  mkdirSync(place.home);
  if (base === 'folder') return place;
  git(place, 'init', '--quiet', '--initial-branch=main', '--template=');
  git(place, 'config', 'user.name', 'Test');
  git(place, 'config', 'user.email', 'test@localhost');
  mkdirSync(join(place.root, 'src'));
  writeFileSync(join(place.root, 'src', 'hello.txt'), 'hello\n');
  git(place, 'add', '.');
  git(place, 'commit', '--quiet', '--message=First');
  if (base === 'repository') return place;
  await droverOrThrow(place, ['init']);
  rmSync(join(place.root, '.drover.toml'));
  if (base === 'empty') return place;
  const file = join(place.folder, 'plan.jsonl');
  writeFileSync(file, plan.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await droverOrThrow(place, ['import', file]);
  rmSync(file);
  const database = new DatabaseSync(place.database);
  database.exec(states);
  database.close();
  return place;
}

const templates = new Map<Base, Promise<Place>>();
let made = 0;

export async function freshPlace(base: Base): Promise<Place> {
  const template = templates.get(base) ?? makeTemplate(base);
  templates.set(base, template);
  const from = await template;
  made += 1;
  const place = placeIn(join(top, `place-${made}`));
  cpSync(from.folder, place.folder, { recursive: true });
  return place;
}

export function removePlace(place: Place): void {
  removeFolder(place.folder);
}
