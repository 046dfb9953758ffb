// Everything that outlives the backend: time, randomness, the repository, running agents and the
// database file. The world decides when the backend dies and when it starts again.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { GitFailure } from '../../server/git/port.ts';
import type { OpenedStore } from '../../server/store/open.ts';
import type { Db } from '../../server/store/rows/one-moment.ts';
import { openEmptyStore } from '../doubles/empty-store.ts';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { AgentWorld } from '../doubles/simulated-agents.ts';
import { SimulatedClock } from '../doubles/simulated-clock.ts';
import { CommandWorld } from '../doubles/simulated-commands.ts';
import { capabilitiesOf } from '../doubles/simulated-driver.ts';
import { gitFailure } from '../doubles/simulated-git.ts';
import { SimulatedRepository } from '../doubles/simulated-repository.ts';
import { planAgent } from './agent-plans.ts';
import { type Faults, noFaults } from './faults.ts';
import { Life } from './life.ts';
import { drawScenario, isGreen, type Scenario } from './scenario.ts';
import type { WorkSettings } from '../../server/workflows/kit/engine-ports.ts';

/** One word for the sentence in section 6 of the design that was violated. */
export type Invariant =
  | 'run-again'
  | 'one-agent'
  | 'base'
  | 'tested-tree'
  | 'not-ours'
  | 'work-kept'
  | 'stuck'
  | 'swallowed'
  | 'feed'
  | 'landed-once'
  | 'plan-lands'
  | 'past'
  | 'bounds'
  | 'unexpected';

export class Violation extends Error {
  readonly invariant: Invariant;
  constructor(invariant: Invariant, message: string) {
    super(`[${invariant}] ${message}`);
    this.invariant = invariant;
  }
}

const storyMax = 400;
/** Far more than a seed ever needs at one moment. */
const statementsAtOnceMax = 100_000;

export class World {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly faults: Faults;
  readonly clock = new SimulatedClock();
  readonly repository: SimulatedRepository;
  readonly agents: AgentWorld;
  readonly commands: CommandWorld;
  readonly productChance: SeededChance;
  readonly personChance: SeededChance;
  readonly toolChance: SeededChance;
  readonly pastChance: SeededChance;
  readonly #opened: OpenedStore;
  readonly #latency: SeededChance;
  readonly #trouble: SeededChance;
  readonly #crashes: SeededChance;
  readonly #ids: SeededChance;
  readonly #statements = new Map<string, StatementSync>();
  #momentMs = 0;
  #statementsAtOnce = 0;
  #nextUuid = 0;
  #lives = 0;
  #untilCrash: number;
  #crashesLeft: number;
  settings: WorkSettings;
  life: Life | null = null;
  /** The tasks are stored: from now on the backend may die. */
  planned = false;
  /** From now on there are no faults, and every actor helps to complete the work. */
  calm = false;
  violation: Violation | null = null;
  /** An event may have been written since the last check. */
  hasNews = true;
  readonly story: string[] = [];
  crashes = 0;
  /** How often the person has merged Drover's work by hand. */
  handMerges = 0;

  private constructor(seed: number, faults: Faults, opened: OpenedStore) {
    const chance = new SeededChance(seed);
    this.seed = seed;
    this.faults = faults;
    this.#opened = opened;
    this.scenario = faults.scenario(drawScenario(chance.fork('scenario')));
    this.settings = this.scenario.settings;
    this.productChance = chance.fork('product');
    this.personChance = chance.fork('person');
    this.toolChance = chance.fork('tools');
    this.pastChance = chance.fork('past');
    this.#latency = chance.fork('latency');
    this.#trouble = chance.fork('trouble');
    this.#crashes = chance.fork('crashes');
    this.#ids = chance.fork('ids');
    this.repository = new SimulatedRepository('/project', this.clock);
    this.agents = new AgentWorld(this.clock, chance.fork('agents'), this.repository);
    const plans = chance.fork('plans');
    this.agents.planFor = (request, kind) => planAgent(this, plans, request, kind);
    this.commands = new CommandWorld(this.clock, chance.fork('commands'), this.repository, {
      isGreen,
      flakyShare: this.scenario.flakyShare,
      setupFailShare: this.scenario.setupFailShare,
      longestMs: this.scenario.gateLongestMs,
    });
    this.commands.onDisturbed = (request) =>
      this.violate('tested-tree', `files changed in ${request.cwd} while ${request.runId} ran`);
    this.#crashesLeft = this.scenario.crashes;
    this.#untilCrash = this.#drawCrash();
  }

  static async create(seed: number, faults: Faults = noFaults): Promise<World> {
    let ids = 0;
    const opened = await openEmptyStore({
      clock: { now: () => 1_800_000_000_000, timer: () => () => undefined },
      uuid: () => `setup-${(ids += 1)}`,
      random: () => new Uint8Array(8),
    });
    return new World(seed, faults, opened);
  }

  get db(): Db {
    return this.#opened.store.db;
  }

  get database(): DatabaseSync {
    return this.#opened.database.raw;
  }

  readonly uuid = (): string => {
    this.#nextUuid += 1;
    return `00000000-0000-4000-8000-${String(this.#nextUuid).padStart(12, '0')}`;
  };

  readonly randomBytes = (count: number): Uint8Array => this.#ids.bytes(count);

  readonly gitTrouble = (call: string): GitFailure | null => {
    if (this.calm || !this.#trouble.percent(this.scenario.gitTroubleShare)) return null;
    this.tell(`git ${call} is refused`);
    return gitFailure('locked', 'a lock is held by somebody else', true);
  };

  latencyMs(): number {
    return this.#latency.percent(70) ? 0 : this.#latency.between(1, this.scenario.latencyMaxMs);
  }

  dieHalfway(): boolean {
    return this.#latency.percent(25);
  }

  #drawCrash(): number {
    return this.#crashes.between(1, this.#crashes.percent(30) ? 40 : 900);
  }

  /** A point at which the backend can die; returns true if it has just died. */
  mayCrash(life: Life, name: string): boolean {
    if (!life.alive) return true;
    if (!this.planned || this.calm || this.#crashesLeft === 0) return false;
    this.#untilCrash -= 1;
    if (this.#untilCrash > 0) return false;
    this.#crashesLeft -= 1;
    this.#untilCrash = this.#drawCrash();
    this.crash(name);
    return true;
  }

  crash(where: string): void {
    const { life } = this;
    if (life === null || !life.alive) return;
    this.tell(`the backend dies: ${where}`);
    this.crashes += 1;
    life.die();
    this.#ended(life);
  }

  /**
   * The backend is suspended and another one takes its place; then the first one wakes up. This
   * happens between two events of the clock.
   */
  standStill(): void {
    const { life } = this;
    if (life === null || !life.alive) return;
    this.tell('the backend stands still');
    this.crashes += 1;
    life.standStill();
    this.#ended(life);
    this.clock.timer(this.#crashes.between(500, 8_000), () => {
      this.tell(`${life.id} wakes`);
      life.wake();
    });
  }

  /** The backend was asked to exit, as a newer version does. */
  leave(): void {
    const { life } = this;
    if (life === null || !life.alive || !life.launched) return;
    this.tell('the backend is asked to leave');
    life.close().then(
      () => this.#ended(life),
      (error: unknown) => this.unexpected(error),
    );
  }

  /**
   * Once for each life: a backend that was suspended while it was exiting finishes its exit after
   * it wakes up.
   */
  #ended(life: Life): void {
    if (this.life !== life) return;
    this.life = null;
    this.commands.backendDied();
    this.agents.backendDied(life.id, (kind) => capabilitiesOf[kind]?.adopt === true);
    const delayMs = this.#crashes.percent(80)
      ? this.#crashes.between(5, 2_000)
      : this.#crashes.between(2_000, 20_000);
    this.clock.timer(delayMs, () => this.startLife());
  }

  startLife(): void {
    if (this.life !== null) return;
    this.#lives += 1;
    const life = new Life(this, this.#lives);
    this.life = life;
    this.tell(`${life.id} begins`);
    life.launch().catch((error: unknown) => {
      if (life.alive) this.unexpected(error);
    });
  }

  /**
   * Called with each statement; returns true if the engine loops while no time passes. Such a loop
   * never gives the clock a turn, so the seed would never end.
   */
  isInCircle(): boolean {
    const now = this.clock.now();
    if (now !== this.#momentMs) this.#statementsAtOnce = 0;
    this.#momentMs = now;
    this.#statementsAtOnce += 1;
    if (this.#statementsAtOnce < statementsAtOnceMax) return false;
    this.violate('stuck', 'the engine turns in a circle in which no time passes');
    return true;
  }

  rows<T>(sql: string, ...values: (string | number)[]): T[] {
    const statement = this.#statements.get(sql) ?? this.database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...values) as T[];
  }

  tell(line: string): void {
    this.story.push(`${this.clock.now() - 1_800_000_000_000} ms: ${line}`);
    if (this.story.length > storyMax) this.story.shift();
  }

  /** The engine's reports about something that it did not expect. */
  reported(error: unknown, where: string): void {
    if (typeof error === 'object' && error !== null && 'kind' in error && 'retryable' in error) {
      this.tell(`reported: ${where}: ${JSON.stringify(error)}`);
      return;
    }
    this.violate('unexpected', `${where}: ${errorWords(error)}`);
  }

  unexpected(error: unknown): void {
    this.violate('unexpected', errorWords(error));
  }

  /** Only the first violation counts. */
  violate(invariant: Invariant, message: string): void {
    this.violation ??= new Violation(invariant, message);
  }

  async close(): Promise<void> {
    this.life?.die();
    await this.#opened.close();
  }
}

function errorWords(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error);
}
