// Gate and setup commands of the simulation: the verdict follows from the files, and from how often they were looked at.

import type { Commands, CommandOutcome, CommandRequest } from '../../server/workflows/engine.ts';
import type { PortCalls } from './port-calls.ts';
import type { SeededChance } from './seeded-chance.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { Files } from './simulated-git-objects.ts';
import type { SimulatedRepository } from './simulated-repository.ts';

export interface CommandRules {
  /** What the command would say of these files if nothing went wrong. */
  readonly isGreen: (command: string, files: Files) => boolean;
  /** Percent of green trees whose first look is red. */
  readonly flakyShare: number;
  readonly setupFailShare: number;
  readonly longestMs: number;
}

export class CommandWorld {
  readonly #clock: SimulatedClock;
  readonly #chance: SeededChance;
  readonly #repository: SimulatedRepository;
  rules: CommandRules;
  /** `tree command` of every look that ended well. */
  readonly green = new Set<string>();
  readonly #looks = new Map<string, number>();
  /** Told when the files under a running command have changed. */
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
    const begunMs = this.#clock.now();
    const before = this.#treeAt(request.cwd);
    const end = (kind: CommandOutcome['kind'], exitCode: number | null): void =>
      done({ kind, exitCode, durationMs: this.#clock.now() - begunMs, tail: `exit ${exitCode}` });
    if (signal.aborted) return end('aborted', null);
    const durationMs = this.#chance.between(50, this.rules.longestMs);
    const abort = (): void => {
      callOff();
      this.#clock.timer(this.#chance.below(300), () => end('aborted', null));
    };
    const callOff = this.#clock.timer(Math.min(durationMs, request.timeoutMs), () => {
      signal.removeEventListener('abort', abort);
      if (durationMs > request.timeoutMs) return end('timed_out', null);
      if (this.#treeAt(request.cwd) !== before) this.onDisturbed(request);
      end('exited', this.#verdict(request, before) ? 0 : 1);
    });
    signal.addEventListener('abort', abort, { once: true });
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
