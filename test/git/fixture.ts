// A temporary repository in a folder with an awkward name, and git as a person would use it there.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import assert from 'node:assert/strict';
import {
  openGitAdapter,
  type BinaryGitAdapter,
  type GitAdapterOptions,
} from '../../server/git/repository/adapter.ts';
import type { GitRepository, GitResult } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';

export interface Fixture {
  /** Everything of the test is below this folder. */
  readonly home: string;
  /** The user's checkout. */
  readonly root: string;
  /** Folder of the worktrees. */
  readonly slots: string;
  readonly environment: Readonly<Record<string, string>>;
  git(...args: readonly string[]): string;
  gitIn(folder: string, ...args: readonly string[]): string;
  write(path: string, content: string | Uint8Array): void;
  slot(name: string): string;
  adapter(options?: GitAdapterOptions): BinaryGitAdapter;
  open(options?: GitAdapterOptions): Promise<GitRepository>;
  remove(): void;
}

interface Shape {
  readonly commit?: boolean;
  readonly init?: readonly string[];
}

/** The person's git has its own identity and no settings of this machine. */
export function makeFixture(shape: Shape = {}): Fixture {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'drover git ü-')));
  const root = join(home, 'pro ject');
  const environment = environmentIn(home);
  const gitIn = (folder: string, ...args: readonly string[]): string =>
    personsGit(environment, folder, args);
  cpSync(preparedOf(shape), root, { recursive: true, preserveTimestamps: true });
  // The copies are different files from those that the index has seen.
  if (shape.commit !== false) gitIn(root, 'update-index', '-q', '--refresh');
  const adapters: BinaryGitAdapter[] = [];
  const adapter = (adapterOptions: GitAdapterOptions = {}): BinaryGitAdapter => {
    const made = openGitAdapter({
      environment,
      lockPatienceMs: 300,
      staleLockMs: 500,
      ...adapterOptions,
    });
    adapters.push(made);
    return made;
  };
  return {
    home,
    root,
    slots: join(home, 'pro ject.worktrees'),
    environment,
    git: (...args) => gitIn(root, ...args),
    gitIn,
    write,
    slot: (name) => join(home, 'pro ject.worktrees', name),
    adapter,
    open: async (adapterOptions) => valueOf(await adapter(adapterOptions).open(root)),
    // A git process that is exiting may still write below it.
    remove: () => removeFolder(home),
  };
}

const prepared = new Map<string, string>();

/**
 * Created by git once per process, because copying a folder takes a tenth of the time of git's
 * processes.
 */
function preparedOf(shape: Shape): string {
  const key = JSON.stringify(shape);
  const known = prepared.get(key);
  if (known !== undefined) return known;
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'drover-prepared-')));
  process.once('exit', () => removeFolder(home));
  const root = join(home, 'project');
  mkdirSync(root);
  const git = (...args: readonly string[]): string => personsGit(environmentIn(home), root, args);
  git('init', '-q', '-b', 'main', ...(shape.init ?? []));
  // Samples: half of the files.
  removeFolder(join(root, '.git', 'hooks'));
  mkdirSync(join(root, '.git', 'hooks'));
  const person = '[user]\n\tname = A Person\n\temail = person@example.org\n';
  appendFileSync(join(root, '.git', 'config'), person);
  if (shape.commit !== false) {
    write(join(root, 'README.md'), 'one\ntwo\nthree\n');
    write(join(root, 'src', 'a.txt'), 'a\n');
    write(join(root, 'src', 'b.txt'), 'b\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
  }
  prepared.set(key, root);
  return root;
}

function environmentIn(home: string): Readonly<Record<string, string>> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
}

function personsGit(
  environment: Readonly<Record<string, string>>,
  folder: string,
  args: readonly string[],
): string {
  return execFileSync('git', ['-c', 'core.quotePath=false', ...args], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  }).trimEnd();
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export function valueOf<T>(result: GitResult<T>): T {
  if (!result.ok) assert.fail(`${result.error.kind}: ${result.error.message}`);
  return result.value;
}

/** The ref of a snapshot of a worktree's content, or null if it has none. */
export async function snapshotRef(
  repository: GitRepository,
  path: string,
  label: string,
): Promise<string | null> {
  const request = { path, label, reason: 'failed', author: 'agent', base: null } as const;
  return valueOf(await repository.snapshot(request))?.ref ?? null;
}

/** The kind of a failure, or `ok`. */
export function kindOf(result: GitResult<unknown>): string {
  return result.ok ? 'ok' : result.error.kind;
}

export interface Task {
  readonly path: string;
  readonly branch: string;
  readonly base: string;
}

/** A slot prepared for an attempt. */
export async function startTask(
  fixture: Fixture,
  repository: GitRepository,
  slot: string,
  id: string,
  base = fixture.git('rev-parse', 'main'),
): Promise<Task> {
  const task = { path: fixture.slot(slot), branch: `drover/${id}/1`, base };
  valueOf(
    await repository.prepareSlot({
      path: task.path,
      branch: task.branch,
      sha: base,
      keepBranch: false,
      dropIgnored: false,
      sparse: null,
      use: 'task',
    }),
  );
  return task;
}

export function leftoversOf(task: Task): Parameters<GitRepository['commitLeftovers']>[0] {
  return {
    ...task,
    subject: `drover: ${task.branch}`,
    trailers: ['Drover-Task: t', 'Drover-Attempt: 1'],
    maxFileSize: 1024 * 1024,
    runHooks: false,
    signature: null,
  };
}

/**
 * A fingerprint of every file of a checkout with the index and the stash, none of which may change.
 */
export function fingerprint(fixture: Fixture, except: readonly string[] = []): string {
  const hash = createHash('sha256');
  const visit = (folder: string, prefix: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
      a.name.localeCompare(b.name),
    )) {
      const path = `${prefix}${entry.name}`;
      if (path === '.git' || except.includes(path)) continue;
      if (entry.isDirectory()) visit(join(folder, entry.name), `${path}/`);
      else hash.update(`${path}\0`).update(readFileSync(join(folder, entry.name)));
    }
  };
  visit(fixture.root, '');
  hash.update(fixture.git('diff', '--cached'));
  hash.update(fixture.git('stash', 'list'));
  return hash.digest('hex');
}

/** A merge commit on top of `from` that writes the given files, made without a checkout. */
export async function landedOn(
  fixture: Fixture,
  repository: GitRepository,
  from: string,
  files: Readonly<Record<string, string>>,
  trailers: readonly string[] = [],
): Promise<string> {
  const other = join(fixture.home, `clone-${Math.random()}`);
  fixture.git('worktree', 'add', '-q', '--detach', other, from);
  for (const [path, content] of Object.entries(files)) fixture.write(join(other, path), content);
  fixture.gitIn(other, 'add', '-Af');
  fixture.gitIn(other, 'commit', '-qm', 'work');
  const commit = fixture.gitIn(other, 'rev-parse', 'HEAD');
  fixture.git('worktree', 'remove', '--force', other);
  const merged = valueOf(
    await repository.merge({ tip: from, commit, subject: 'drover: land', trailers }),
  );
  assert.equal(merged.kind, 'merged');
  return merged.kind === 'merged' ? merged.commit : '';
}
