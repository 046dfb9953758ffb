// The environment of one schedule: a project with a remote, each actor's writes, and git as people
// use it there.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from '../../server/files/small-files.ts';
import type { Project } from '../e2e/support/project.ts';
import { pruningFile } from './agent-acts.ts';
import { broughtBy, droppedBy } from './tokens.ts';

const quietMs = 200;
const quietMaxMs = 10_000;

export class Stage {
  readonly project: Project;
  readonly root: string;
  readonly folder: string;
  readonly slots: string;
  /** The folder of the other person. */
  readonly far: string;
  readonly story: string[] = [];
  /**
   * Tokens that a person intentionally removed from their line: their own, and landed ones of
   * agents.
   */
  readonly takenOut = new Set<string>();
  /** Tokens that a person wrote in a slot, by the tasks whose branch was checked out there. */
  readonly inSlots = new Map<string, readonly string[]>();
  readonly #beganMs = Date.now();
  #tokens = 0;

  constructor(project: Project) {
    this.project = project;
    this.root = project.root;
    this.folder = project.folder;
    this.slots = `${project.root}.worktrees`;
    this.far = join(project.folder, 'far');
  }

  tell(text: string): void {
    this.story.push(`${String(Date.now() - this.#beganMs).padStart(6)} ms  ${text}`);
  }

  /** A new token of the person at the end of the file. */
  say(path: string, author = 'me'): string {
    this.#tokens += 1;
    const token = `tok:${author}:0:0:${this.#tokens};`;
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, `${token}\n`);
    appendFileSync(this.ledgerPath, `w ${token}\n`);
    return token;
  }

  get ledgerPath(): string {
    return join(this.folder, 'ledger');
  }

  ledger(): readonly string[] {
    if (!existsSync(this.ledgerPath)) return [];
    return readFileSync(this.ledgerPath, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  starts(): number {
    return this.ledger().filter((line) => line.startsWith('s ')).length;
  }

  /** Git's output, or null if git refused; people then continue. */
  git(
    args: readonly string[],
    folder = this.root,
    env: Record<string, string> = {},
  ): string | null {
    try {
      const lock = args[0] === 'gc' ? [] : ['-s'];
      return execFileSync(
        'flock',
        ['-o', ...lock, join(this.folder, pruningFile), 'git', ...args],
        {
          cwd: folder,
          env: { ...this.project.env, GIT_EDITOR: 'true', ...env },
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
          maxBuffer: 64 * 1024 * 1024,
        },
      ).trimEnd();
    } catch (error) {
      const { stderr } = error as { stderr?: string };
      this.tell(
        `    git ${args.join(' ')}: ${(stderr ?? '').trim().split('\n').join(' | ').slice(0, 200)}`,
      );
      return null;
    }
  }

  /** A person's action that may remove commits from their branch, which is their right. */
  taking(act: () => void): void {
    for (const token of droppedBy(this, act)) this.takenOut.add(token);
  }

  /** An action that may bring back removed commits. */
  bringing(act: () => void): void {
    for (const token of broughtBy(this, act)) this.takenOut.delete(token);
  }

  /**
   * A person acts between the engine's moves, because git's own locks protect the milliseconds of a
   * move. The engine's moves are visible in its database and in the repository.
   */
  async quiet(): Promise<void> {
    const endMs = Date.now() + quietMaxMs;
    let seen = this.moves();
    let sinceMs = Date.now();
    while (Date.now() - sinceMs < quietMs) {
      await sleep(15);
      const moves = this.moves();
      if (moves !== seen) [seen, sinceMs] = [moves, Date.now()];
      if (Date.now() > endMs) return this.tell('    the engine is not quiet');
    }
  }

  /** Changes with every step that the engine stores and every ref, index or slot that it writes. */
  private moves(): string {
    const git = join(this.root, '.git');
    const slots = join(git, 'worktrees');
    const inSlots = existsSync(slots) ? readdirSync(slots).map((name) => join(slots, name)) : [];
    const refs = ['refs/heads', 'refs/heads/drover', 'refs/drover', 'refs/drover/land'];
    const names = ['HEAD', 'index', 'logs/refs/heads/main', 'packed-refs', ...refs];
    const paths = [
      ...names.map((name) => join(git, name)),
      git,
      slots,
      ...inSlots,
      join(this.root, '.drover', 'drover.db-wal'),
    ];
    return paths.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0).join();
  }

  slotFolders(): readonly string[] {
    if (!existsSync(this.slots)) return [];
    return readdirSync(this.slots)
      .filter((name) => name.startsWith('slot-'))
      .map((name) => join(this.slots, name))
      .filter((path) => existsSync(join(path, '.git')));
  }

  /**
   * Tasks that a slot may belong to: by its branch, which agents leave too, and by Drover's note in
   * its git folder, which does not exist yet while the slot is created.
   */
  holdersOf(slot: string): readonly string[] {
    const gitFolder = (readText(join(slot, '.git')) ?? '').replace('gitdir: ', '').trim();
    const branch = /refs\/heads\/drover\/(.+)\/\d+$/m.exec(readText(join(gitFolder, 'HEAD')) ?? '');
    const owner = /^(.+)\/\d+$/m.exec(readText(join(gitFolder, 'drover-owner')) ?? '');
    const found = [branch?.[1], owner?.[1]].filter((task) => task !== undefined);
    return [...new Set(found)];
  }

  /** No task's branch is checked out there. */
  isFree(slot: string): boolean {
    const gitFolder = (readText(join(slot, '.git')) ?? '').replace('gitdir: ', '').trim();
    return readText(join(gitFolder, 'HEAD'))?.includes('refs/heads/drover/') !== true;
  }

  write(path: string, text: string): void {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }

  /** The target of a link, or null. */
  link(path: string): string | null {
    try {
      return readlinkSync(path);
    } catch {
      return null;
    }
  }
}
