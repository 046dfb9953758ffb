// One machine of a fleet under test: a host with its own home, clone and agent.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeAgent } from '../../e2e/support/agent-scripts.ts';
import { isProcessAlive } from '../../e2e/support/processes.ts';
import { droverProgram } from '../../e2e/support/program.ts';
import {
  type FinishedProgram,
  type RunningProgram,
  startProgram,
  tail,
} from '../../e2e/support/run-program.ts';
import { type Host, numberInside, onlyChild } from './network.ts';

export interface MachinePlan {
  readonly name: string;
  readonly host: Host;
  readonly folder: string;
  /** Body of its shell agent. */
  readonly agent: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isReal: boolean;
}

const startTriesMax = 10;
const startAgainMs = 500;

type Variables = Readonly<Record<string, string>>;

export class Machine {
  readonly name: string;
  readonly host: Host;
  readonly folder: string;
  readonly root: string;
  readonly env: Variables;
  readonly #isReal: boolean;
  readonly #running = new Set<RunningProgram>();
  #worker: RunningProgram | null = null;
  #starting: Promise<void> | null = null;

  constructor(plan: MachinePlan) {
    this.name = plan.name;
    this.host = plan.host;
    this.folder = plan.folder;
    this.root = join(plan.folder, 'repo');
    this.#isReal = plan.isReal;
    for (const name of ['home', 'tmp']) {
      mkdirSync(join(plan.folder, name), { recursive: true });
    }
    this.env = {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(plan.folder, 'home'),
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      TMPDIR: join(plan.folder, 'tmp'),
      GIT_CONFIG_NOSYSTEM: '1',
      DROVER_SANDBOX: 'off',
      DROVER_FLEET_TEST_HOST: plan.folder,
      DROVER_AGENT_TYPE: 'command',
      DROVER_AGENT_PATH: writeAgent(plan.folder, `machine=${plan.name}\n${plan.agent}`),
      ...plan.env,
    };
    writeFileSync(
      join(plan.folder, 'home', '.gitconfig'),
      '[user]\n\tname = A Person\n\temail = person@example.org\n[gc]\n\tauto = 0\n',
    );
  }

  /**
   * Runs a program on this machine to its end; resolves with its output, whatever its exit code.
   */
  async run(
    program: string,
    args: readonly string[],
    timeoutMs = 60_000,
  ): Promise<FinishedProgram> {
    return await this.launch(program, args, {}, this.folder, timeoutMs).ended;
  }

  start(args: readonly string[], env: Variables = {}, timeoutMs = 900_000): RunningProgram {
    const words = ['--no-warnings', droverProgram(), ...args];
    return this.launch(process.execPath, words, env, this.root, timeoutMs);
  }

  async expect(code: number, args: readonly string[]): Promise<string> {
    const done = await this.start(args, {}, 120_000).ended;
    const words = `${this.name}: drover ${args.join(' ')}`;
    assert.equal(done.code, code, `${words}\n${tail(done.stdout)}\n${tail(done.stderr)}`);
    return done.stdout;
  }

  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.expect(0, [...args, '--json'])) as T;
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd: this.root,
      env: { ...this.env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    }).trimEnd();
  }

  /** The settings file of the person who works on this machine. */
  writeUserSettings(text: string): void {
    const folder = join(this.folder, 'home', '.config', 'drover');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.toml'), text);
  }

  /**
   * Starts `drover worker`; resolves when it reports that it is ready. A worker that refuses to
   * start, for example because its database restarts at that time, is restarted a few times, as by
   * a supervisor. A machine has one supervisor, whoever calls this.
   */
  async startWorker(args: readonly string[] = [], env: Variables = {}): Promise<void> {
    this.#starting ??= this.#startWorker(args, env).finally(() => (this.#starting = null));
    await this.#starting;
  }

  async #startWorker(args: readonly string[], env: Variables): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const worker = this.start(['worker', '--json', ...args], env);
      this.#worker = worker;
      const ready = worker.line((line) => line.includes('"ready"'));
      if (tries === startTriesMax) return void (await ready);
      const isReady = await ready.then(
        () => true,
        () => false,
      );
      if (isReady) return;
      await pause(startAgainMs);
    }
  }

  signalWorker(signal: NodeJS.Signals): void {
    const pid = this.#worker === null ? null : this.processOf(this.#worker);
    if (pid !== null) process.kill(pid, signal);
  }

  /** Its agents are left alone. Returns false if it was not running. */
  killBackend(): boolean {
    const pid = this.backendPid();
    return pid !== null && process.kill(pid, 'SIGKILL');
  }

  /** The program itself, after the words that enter the host. */
  processOf(program: RunningProgram): number | null {
    if (!this.#running.has(program)) return null;
    return this.#isReal ? onlyChild(program.pid) : program.pid;
  }

  worker(): RunningProgram | null {
    return this.#worker;
  }

  /** The backend that runs for its clone, whoever started it, as this computer's pid. */
  backendPid(): number | null {
    try {
      const text = readFileSync(join(this.root, '.drover', 'backend.json'), 'utf8');
      const { pid } = JSON.parse(text) as { pid: number };
      return this.host.processes().find((outer) => numberInside(outer) === pid) ?? null;
    } catch {
      return null;
    }
  }

  /**
   * Suspends its backend while it works, like a computer that goes to sleep. Returns null if none
   * is running.
   */
  freezeBackend(): number | null {
    const pid = this.backendPid();
    if (pid !== null) process.kill(pid, 'SIGSTOP');
    return pid;
  }

  thaw(pid: number): void {
    // It may have been killed in between.
    if (isProcessAlive(pid)) process.kill(pid, 'SIGCONT');
    this.wakeStarters();
  }

  /**
   * Everything on it ends at once. The host itself is available again afterwards, with nothing
   * running.
   */
  async kill(): Promise<void> {
    await this.host.kill();
    this.wakeStarters();
    await Promise.allSettled([...this.#running].map(({ ended }) => ended));
  }

  /**
   * A process that entered the host stops itself together with its program, and then does not see
   * its end.
   */
  private wakeStarters(): void {
    for (const { pid } of this.#running) {
      if (isProcessAlive(pid)) process.kill(pid, 'SIGCONT');
    }
  }

  log(): string {
    try {
      return tail(readFileSync(join(this.root, '.drover', 'backend.log'), 'utf8'), 6_000);
    } catch {
      return '';
    }
  }

  launch(
    program: string,
    args: readonly string[],
    env: Variables,
    cwd: string,
    timeoutMs: number,
  ): RunningProgram {
    // Entering a host's file systems loses the working directory.
    const inside = ['/bin/sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', cwd, program, ...args];
    const [first = '', ...rest] = [...this.host.enter(), ...inside];
    const started = startProgram({
      program: first,
      args: rest,
      cwd,
      // The arguments that enter the host are not one of the machine's own programs.
      env: { ...this.env, ...env, PATH: `${this.env['PATH']}:/usr/sbin` },
      timeoutMs,
    });
    this.#running.add(started);
    const forget = (): void => void this.#running.delete(started);
    started.ended.then(forget, forget);
    return started;
  }
}
