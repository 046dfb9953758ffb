// A temporary project: a real repository, a separate home, the real `drover` command, and the
// cleanup of all of them.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EventView, StatusSnapshot, TaskView } from '../../../server/protocol/api.ts';
import { removeFolder } from '../../remove-folder.ts';
import { writeAgent, writesOneFile } from './agent-scripts.ts';
import { eventually } from './eventually.ts';
import { fleetOfOne, shareRepository } from './fleet-of-one.ts';
import { isQuick, runInProcess } from './in-process.ts';
import { isProcessAlive, killAll, processesOf } from './processes.ts';
import { droverProgram } from './program.ts';
import { type FinishedProgram, type RunningProgram, startProgram, tail } from './run-program.ts';

export interface ProjectOptions {
  /** Body of the shell agent; by default, the agent writes a file. */
  readonly agent?: string;
  /** Content of `.drover.toml`. */
  readonly settings?: string;
  /** Files of the first commit, in addition to a README. */
  readonly files?: Readonly<Record<string, string>>;
  /** Additional variables for every command. */
  readonly env?: Readonly<Record<string, string>>;
  /** If true, commands are the subject of the test, so each runs as a process. */
  readonly isEachProcess?: boolean;
}

export interface DroverOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly cwd?: string;
  /** A `drover` other than the one under test: a newer one. */
  readonly program?: string;
}

export interface Project {
  /**
   * Everything of the test is below it, and its name is in the environment of every process of the
   * test.
   */
  readonly folder: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs one command to its end, as a process. */
  drover(args: readonly string[], options?: DroverOptions): Promise<FinishedProgram>;
  /**
   * Runs one command to its end and asserts its exit code; resolves with its standard output. A
   * quick command without special options that must succeed does not run as a process.
   */
  expect(code: number, args: readonly string[], options?: DroverOptions): Promise<string>;
  /** Starts one command. */
  start(args: readonly string[], options?: DroverOptions): RunningProgram;
  json<T>(args: readonly string[], options?: DroverOptions): Promise<T>;
  status(): Promise<StatusSnapshot>;
  epicLanded(): Promise<true>;
  task(id: string): Promise<TaskView>;
  events(...more: readonly string[]): Promise<readonly EventView[]>;
  /** Adds a task; resolves with its id. */
  add(title: string, ...more: readonly string[]): Promise<string>;
  git(...args: readonly string[]): string;
  gitIn(folder: string, ...args: readonly string[]): string;
  /** Exit code of a shell command line, with the environment of the test. */
  sh(folder: string, command: string): number;
  write(path: string, text: string): void;
  /** Text of a file below the test's folder. */
  read(path: string): string;
  backendPid(): number | null;
  /** Kills the backend and waits until it has exited; returns false if none was running. */
  killBackend(): Promise<boolean>;
  /** Stops the backend cleanly, asserts that no process is left, and removes everything. */
  end(isKept: boolean): Promise<void>;
}

const commandTimeoutMs = 120_000;
const leaveMaxMs = 30_000;

export function makeProject(options: ProjectOptions = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-e2e-')));
  const root = join(folder, 'repo');
  for (const name of ['home', 'tmp', 'repo']) mkdirSync(join(folder, name));
  const agent = writeAgent(folder, options.agent ?? writesOneFile);
  const env: Record<string, string> = {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: join(folder, 'home'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: join(folder, 'tmp'),
    GIT_CONFIG_NOSYSTEM: '1',
    // Confinement tests specify which walls they need; all others need none.
    DROVER_SANDBOX: 'off',
    DROVER_AGENT_TYPE: 'command',
    DROVER_AGENT_PATH: agent,
    ...fleetOfOne(folder),
    ...options.env,
  };
  makeRepository(folder, root, env, options);
  shareRepository(folder, root, env);
  return new RealProject(folder, root, env, options.isEachProcess ?? false);
}

function makeRepository(
  folder: string,
  root: string,
  env: Readonly<Record<string, string>>,
  options: ProjectOptions,
): void {
  writeFileSync(
    join(folder, 'home', '.gitconfig'),
    '[user]\n\tname = A Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n',
  );
  const files = {
    'README.md': 'A project.\n',
    '.gitignore': 'ignored/\n*.secret\n',
    ...options.files,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, '.drover.toml'), options.settings ?? '# defaults\n');
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'first'],
  ]) {
    execFileSync('git', args, { cwd: root, env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

class RealProject implements Project {
  readonly folder: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #running = new Set<RunningProgram>();

  readonly #isEachProcess: boolean;

  constructor(
    folder: string,
    root: string,
    env: Readonly<Record<string, string>>,
    isEachProcess: boolean,
  ) {
    this.folder = folder;
    this.root = root;
    this.env = env;
    this.#isEachProcess = isEachProcess;
  }

  start(args: readonly string[], options: DroverOptions = {}): RunningProgram {
    const started = startProgram({
      program: process.execPath,
      args: ['--no-warnings', options.program ?? droverProgram(), ...args],
      cwd: options.cwd ?? this.root,
      env: { ...this.env, ...options.env },
      timeoutMs: options.timeoutMs ?? commandTimeoutMs,
    });
    this.#running.add(started);
    const forget = (): void => void this.#running.delete(started);
    started.ended.then(forget, forget);
    return started;
  }

  async drover(args: readonly string[], options: DroverOptions = {}): Promise<FinishedProgram> {
    return await this.start(args, options).ended;
  }

  async expect(code: number, args: readonly string[], options?: DroverOptions): Promise<string> {
    const mayStay = code === 0 && options === undefined && !this.#isEachProcess && isQuick(args);
    if (mayStay) return await this.look(args);
    return this.checked(code, args, await this.drover(args, options));
  }

  private checked(code: number, args: readonly string[], done: FinishedProgram): string {
    const words = `drover ${args.join(' ')}`;
    assert.equal(
      done.code,
      code,
      `${words}\n${tail(done.stdout)}\n${tail(done.stderr)}\n${this.log()}`,
    );
    return done.stdout;
  }

  async json<T>(args: readonly string[], options?: DroverOptions): Promise<T> {
    return JSON.parse(await this.expect(0, [...args, '--json'], options)) as T;
  }

  /** Its output is not a subject of the test. */
  private async look(args: readonly string[]): Promise<string> {
    const isProcess = this.#isEachProcess && this.backendPid() === null;
    const done = isProcess ? null : await runInProcess(this.root, this.env, args);
    return this.checked(0, args, done ?? (await this.drover(args)));
  }

  async status(): Promise<StatusSnapshot> {
    return JSON.parse(await this.look(['status', '--json'])) as StatusSnapshot;
  }

  /** An epic's tasks complete on its own branch first, and then the epic lands as a whole. */
  epicLanded(): Promise<true> {
    return eventually('an epic has landed', async () =>
      (await this.status()).epics.some(({ landed_sha }) => landed_sha !== null),
    );
  }

  async task(id: string): Promise<TaskView> {
    const found = (await this.status()).tasks.find((task) => task.id === id);
    if (found === undefined) assert.fail(`there is no task ${id}`);
    return found;
  }

  async events(...more: readonly string[]): Promise<readonly EventView[]> {
    const text = await this.look(['events', '--json', ...more]);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as EventView);
  }

  async add(title: string, ...more: readonly string[]): Promise<string> {
    const added = await this.look(['add', title, ...more, '--json']);
    return (JSON.parse(added) as { id: string }).id;
  }

  git(...args: readonly string[]): string {
    return this.gitIn(this.root, ...args);
  }

  gitIn(folder: string, ...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd: folder,
      env: { ...this.env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    }).trimEnd();
  }

  sh(folder: string, command: string): number {
    const options = { cwd: folder, env: { ...this.env }, stdio: 'ignore' } as const;
    return spawnSync('/bin/sh', ['-c', command], options).status ?? -1;
  }

  write(path: string, text: string): void {
    const full = join(this.folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }

  read(path: string): string {
    const full = join(this.folder, path);
    return existsSync(full) ? readFileSync(full, 'utf8') : '';
  }

  backendPid(): number | null {
    try {
      const text = readFileSync(join(this.root, '.drover', 'backend.json'), 'utf8');
      const { pid } = JSON.parse(text) as { pid: number };
      return isProcessAlive(pid) ? pid : null;
    } catch {
      return null;
    }
  }

  async killBackend(): Promise<boolean> {
    const pid = this.backendPid();
    if (pid === null) return false;
    process.kill(pid, 'SIGKILL');
    await eventually(`backend ${pid} is gone`, () => !isProcessAlive(pid), leaveMaxMs);
    return true;
  }

  async end(isKept: boolean): Promise<void> {
    const problems: string[] = [];
    // After a failed test, a command may still be following, and it would start another backend.
    for (const started of this.#running) started.signal('SIGKILL');
    await Promise.allSettled([...this.#running].map((started) => started.ended));
    const pid = this.backendPid();
    if (pid !== null) {
      process.kill(pid, 'SIGTERM');
      const isGone = eventually('the backend leaves', () => !isProcessAlive(pid), leaveMaxMs);
      await isGone.catch(() => problems.push(`the backend ${pid} did not leave`));
    }
    // A backend that a command had just started has written its address by now.
    const isNone = (): boolean => {
      const late = this.backendPid();
      if (late !== null && late !== pid) process.kill(late, 'SIGTERM');
      return processesOf(this.folder).length === 0;
    };
    const none = eventually('no process', isNone, 30_000);
    await none.catch(() => {
      const left = processesOf(this.folder);
      for (const { pid: leftPid, what } of left) problems.push(`left running: ${leftPid} ${what}`);
      killAll(left);
    });
    if (isKept) console.log(`kept: ${this.folder}\n${this.log()}`);
    else removeFolder(this.folder);
    assert.deepEqual(problems, []);
  }

  private log(): string {
    return tail(this.read('repo/.drover/backend.log'));
  }
}
