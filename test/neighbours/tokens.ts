// Finds tokens: in a tree, in a person's view, and anywhere in a schedule's environment.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Stage } from './stage.ts';

const pattern = /tok:[\w.-]+:\d+:\d+:\d+;/g;

export function tokensOf(text: string): readonly string[] {
  return text.match(pattern) ?? [];
}

/** The task, part of a task, or person that wrote it. */
export function writerOf(token: string): string {
  return token.split(':')[1] ?? '';
}

/** The same, but a part counts as its parent. */
export function authorOf(token: string): string {
  return writerOf(token).replace(/\..*$/, '');
}

export function attemptOf(token: string): number {
  return Number(token.split(':')[2]);
}

function grep(
  stage: Stage,
  options: readonly string[],
  ...where: readonly string[]
): readonly string[] {
  const words = 'tok:[A-Za-z0-9_.-]+:[0-9]+:[0-9]+:[0-9]+;';
  const args = ['grep', '-hoIE', ...options, words, ...where];
  const done = spawnSync('git', args, {
    cwd: stage.root,
    env: { ...stage.project.env },
    encoding: 'utf8',
  });
  return tokensOf(done.stdout);
}

/** Tokens of a commit's tree; none if the commit does not exist. */
export function tokensIn(stage: Stage, commit: string): readonly string[] {
  return grep(stage, [], commit);
}

export function stagedTokens(stage: Stage): readonly string[] {
  return grep(stage, ['--cached']);
}

/**
 * The person's current state: the commit they are on, and their own changes in the index, in their
 * files and in a rebase's autostash. Changes that an arriving landing has written there do not
 * count as theirs yet.
 */
function visible(stage: Stage): Set<string> {
  const seen = new Set([
    ...stagedTokens(stage),
    ...grep(stage, ['--untracked']),
    ...putAside(stage),
  ]);
  const theirs = [...seen].filter((token) => authorOf(token) === 'me' && !stage.inSlots.has(token));
  return new Set([...tokensIn(stage, 'HEAD'), ...theirs]);
}

/** A rebase that has stopped stores uncommitted changes separately, until it ends. */
function putAside(stage: Stage): readonly string[] {
  const file = join(stage.root, '.git', 'rebase-merge', 'autostash');
  return existsSync(file) ? tokensIn(stage, readFileSync(file, 'utf8').trim()) : [];
}

/** The tokens that the person has after the action but did not have before it. */
export function broughtBy(stage: Stage, act: () => void): readonly string[] {
  const before = visible(stage);
  act();
  return [...visible(stage)].filter((token) => !before.has(token));
}

/**
 * The tokens that the person had before the action but not after it, including work that arrived in
 * between.
 */
export function droppedBy(stage: Stage, act: () => void): readonly string[] {
  const before = visible(stage);
  // Tokens that they dropped within a rebase are on the branch until the rebase ends.
  if (existsSync(join(stage.root, '.git', 'rebase-merge')))
    for (const token of tokensIn(stage, 'refs/heads/main')) before.add(token);
  act();
  for (const back of [1, 2, 3]) {
    for (const token of tokensIn(stage, `HEAD@{${back}}`)) before.add(token);
  }
  const after = visible(stage);
  // HEAD's log may contain main while a commit beside it is amended, in the middle of a bisect.
  for (const token of tokensIn(stage, 'refs/heads/main')) after.add(token);
  return [...before].filter((token) => !after.has(token));
}

type Place = Pick<Stage, 'project' | 'root' | 'folder' | 'far'>;

/** Every token that is still in a ref, a stash, an index or a file. */
export function reachableTokens(stage: Place): ReadonlySet<string> {
  const found = new Set<string>();
  for (const repository of [stage.root, join(stage.folder, 'remote.git'), stage.far]) {
    if (!existsSync(repository)) continue;
    for (const token of inObjects(stage, repository)) found.add(token);
  }
  for (const token of tokensInFiles(stage.folder)) found.add(token);
  return found;
}

function inObjects(stage: Place, folder: string): readonly string[] {
  const options = {
    cwd: folder,
    env: { ...stage.project.env },
    maxBuffer: 256 * 1024 * 1024,
  };
  const stash = spawnSync('git', ['rev-list', '-g', 'refs/stash', '--'], options);
  const stashes = stash.stdout
    .toString()
    .split('\n')
    .filter((sha) => sha !== '');
  const list = execFileSync(
    'git',
    ['rev-list', '--objects', '--no-object-names', '--all', '--indexed-objects', ...stashes],
    options,
  );
  const text = execFileSync('git', ['cat-file', '--batch', '--buffer'], {
    ...options,
    input: list,
  });
  return tokensOf(text.toString('latin1'));
}

/** Every token in a file below the folder. */
export function tokensInFiles(folder: string): ReadonlySet<string> {
  const found = new Set<string>();
  inFiles(folder, found);
  return found;
}

/** Skips git's own folders, and the test's own files. */
const ours = new Set(['.git', '.drover', 'ledger', 'home', 'tmp', 'remote.git', 'acts', 'plans']);

function inFiles(folder: string, found: Set<string>): void {
  for (const name of readdirSync(folder)) {
    if (ours.has(name)) continue;
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) inFiles(path, found);
    else if (stats?.isFile() === true && basename(path) !== 'agent.sh') {
      for (const token of tokensOf(readFileSync(path, 'latin1'))) found.add(token);
    }
  }
}
