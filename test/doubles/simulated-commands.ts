// Gate and setup commands of the simulation: the verdict depends on the files and on how often they
// were tested.

import type { CommandOutcome, CommandRequest } from '../../server/core/work/command.ts';
import type { PortCalls } from './port-calls.ts';
import type { SeededChance } from './seeded-chance.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { Files } from './simulated-git-objects.ts';
import type { SimulatedRepository } from './simulated-repository.ts';
import type { Commands } from '../../server/workflows/kit/engine-ports.ts';

export interface CommandRules {
  /** The command's verdict on these files if nothing goes wrong. */
  readonly isGreen: (command: string, files: Files) => boolean;
  /** Percentage of passing trees whose first test fails. */
  readonly flakyShare: number;
  readonly setupFailShare: number;
  readonly longestMs: number;
}

interface RunningCommand {
  readonly request: CommandRequest;
  live: boolean;
  onEnd: () => void;
}

export class CommandWorld {
  readonly #clock: SimulatedClock;
  readonly #chance: SeededChance;
  readonly #repository: SimulatedRepository;
  rules: CommandRules;
  /** `tree command` of every test that passed. */
  readonly green = new Set<string>();
  readonly #looks = new Map<string, number>();
  /** Whether the last run with this name succeeded. */
  readonly ends = new Map<string, boolean>();
  readonly running = new Set<RunningCommand>();
  onStart: (request: CommandRequest) => void = () => undefined;
  /** Called when the files under a running command have changed. */
  onDisturbed: (request: CommandRequest) => void = () => undefined;

  constructor(
    clock: SimulatedClock,
    chance: SeededChance,
    repository: SimulatedRepository,
    rules: CommandRules,
  ) {
    this.#clock = clock;
    this.#chance = chance;
    this.#repository = repository;
    this.rules = rules;
  }

  portFor(calls: PortCalls): Commands {
    return {
      run: async (request, signal) => {
        await calls.run('command.start', () => undefined);
        return calls.wait<CommandOutcome>((done) => this.#run(request, signal, done));
      },
    };
  }

  #run(
    request: CommandRequest,
    signal: AbortSignal,
    done: (outcome: CommandOutcome) => void,
  ): void {
    const startMs = this.#clock.now();
    const before = this.#treeAt(request.cwd);
    const end = (kind: CommandOutcome['kind'], exitCode: number | null): void => {
      signal.removeEventListener('abort', abort);
      done({
        kind,
        exitCode,
        durationMs: this.#clock.now() - startMs,
        tail: `exit ${exitCode}`,
        telling: [],
      });
    };
    const abort = (): void => this.#terminate(running, 300);
    const running: RunningCommand = {
      request,
      live: true,
      onEnd: () => end(signal.aborted ? 'aborted' : 'exited', signal.aborted ? null : 137),
    };
    if (signal.aborted) return end('aborted', null);
    this.onStart(request);
    this.running.add(running);
    const durationMs = this.#chance.between(50, this.rules.longestMs);
    this.#clock.timer(Math.min(durationMs, request.timeoutMs), () => {
      if (!running.live) return;
      running.live = false;
      this.running.delete(running);
      if (durationMs > request.timeoutMs) return end('timed_out', null);
      if (this.#treeAt(request.cwd) !== before) this.onDisturbed(request);
      const isWell = this.#verdict(request, before);
      this.ends.set(request.runId, isWell);
      end('exited', isWell ? 0 : 1);
    });
    signal.addEventListener('abort', abort, { once: true });
  }

  #terminate(command: RunningCommand, withinMs: number): void {
    this.#clock.timer(this.#chance.below(withinMs), () => {
      if (!command.live) return;
      command.live = false;
      this.running.delete(command);
      command.onEnd();
    });
  }

  /** Kills processes with the run's marker; calls back when they have exited. */
  endTree(runId: string, done: () => void): void {
    const left = [...this.running].filter(({ request }) => request.runId === runId);
    if (left.length === 0) return done();
    for (const command of left) this.#terminate(command, 300);
    this.#clock.timer(300, done);
  }

  /**
   * Commands are separate processes: some continue without the backend, and their end is not
   * reported.
   */
  backendDied(): void {
    for (const command of this.running) {
      command.onEnd = () => undefined;
      if (this.#chance.percent(40)) this.#terminate(command, 1);
    }
  }

  #treeAt(path: string): string {
    const files = this.#repository.worktrees.get(path)?.files ?? new Map<string, string>();
    return this.#repository.objects.writeTree(files);
  }

  #verdict(request: CommandRequest, tree: string): boolean {
    if (request.command === 'setup') return !this.#chance.percent(this.rules.setupFailShare);
    const { isGreen, flakyShare } = this.rules;
    const files = this.#repository.objects.treeFiles(tree);
    const key = `${tree} ${request.command}`;
    const looks = (this.#looks.get(key) ?? 0) + 1;
    this.#looks.set(key, looks);
    const unlucky = looks === 1 && this.#chance.percent(flakyShare);
    const ok = isGreen(request.command, files) && !unlucky;
    if (ok) this.green.add(key);
    return ok;
  }
}
