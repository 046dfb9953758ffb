// Runs one seed from start to end: a wild phase, a calm phase in which everything in progress must
// end by itself, and a phase in which a helpful person completes everything.

import { createHash } from 'node:crypto';
import { addEpic } from '../../server/store/plan/epics.ts';
import { addTask } from '../../server/store/plan/tasks.ts';
import { Checks } from './checks.ts';
import { checkEnd, checkSettled, notArrived } from './end-checks.ts';
import { type Faults, noFaults } from './faults.ts';
import { HelpfulPerson, unfinishedTasks } from './helpful-person.ts';
import { PastMoments } from './past-moments.ts';
import { PersonAtGit } from './person-at-git.ts';
import { Requests } from './requests.ts';
import { WildPerson } from './wild-person.ts';
import { type Invariant, Violation, World } from './world.ts';
import { noBudgets } from '../doubles/neutral-settings.ts';

export interface SeedOutcome {
  readonly seed: number;
  /** `[invariant] what was seen`, or null if nothing was wrong. */
  readonly violation: string | null;
  readonly invariant: Invariant | null;
  /** Hash of all events with their times: the same seed must give the same hash. */
  readonly feedHash: string;
  readonly events: number;
  /** How often each type of event occurred: shows when the simulation no longer covers a type. */
  readonly types: ReadonlyMap<string, number>;
  readonly crashes: number;
  readonly simulatedMs: number;
  /** The latest events, for people. */
  readonly story: readonly string[];
}

const settleMs = 600_000;
const finishMs = 1_800_000;
const helpEveryMs = 2_000;
const lookEveryMs = 500;

export async function runSeed(seed: number, faults: Faults = noFaults): Promise<SeedOutcome> {
  const world = await World.create(seed, faults);
  const simulation = new Simulation(world);
  const onRejection = (error: unknown): void => world.unexpected(error);
  process.on('unhandledRejection', onRejection);
  try {
    await simulation.run();
  } catch (error) {
    if (!(error instanceof Violation)) world.unexpected(error);
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  const outcome = simulation.outcome();
  await world.close();
  return outcome;
}

class Simulation {
  readonly #world: World;
  readonly #checks: Checks;
  readonly #requests: Requests;
  readonly #wild: WildPerson;
  readonly #helpful: HelpfulPerson;
  readonly #past: PastMoments;
  readonly #beganMs: number;

  constructor(world: World) {
    this.#world = world;
    this.#checks = new Checks(world);
    this.#past = new PastMoments(world, world.pastChance);
    this.#requests = new Requests(world);
    const git = new PersonAtGit(world);
    this.#wild = new WildPerson(world, this.#requests, git);
    this.#helpful = new HelpfulPerson(world, this.#requests, git);
    this.#beganMs = world.clock.now();
  }

  async run(): Promise<void> {
    const world = this.#world;
    world.startLife();
    await this.#until(1_000, () => world.life?.launched === true);
    await this.#plan();
    world.planned = true;
    this.#startFirstRun();
    this.#schedulePerson();
    this.#scheduleTrouble();
    await this.#until(world.scenario.chaosMs, () => false);
    await this.#settle();
    await this.#finish();
    await this.#past.check();
    if (world.violation !== null) throw world.violation;
  }

  /** Steps until the condition holds or the time is over; returns whether it holds. */
  async #until(forMs: number, isSo: () => boolean): Promise<boolean> {
    const { clock } = this.#world;
    const endMs = clock.now() + forMs;
    let timeOver = false;
    clock.at(endMs, () => {
      timeOver = true;
    });
    let nextLookMs = clock.now();
    for (;;) {
      // The awaited change comes with an event, or is not urgent.
      if (this.#world.hasNews || clock.now() >= nextLookMs) {
        if (this.#world.hasNews) this.#past.look();
        this.#checks.afterStep();
        if (isSo()) return true;
        nextLookMs = clock.now() + lookEveryMs;
      }
      if (timeOver) return false;
      if (!clock.step()) this.#world.violate('stuck', 'nothing waits for anything any more');
      // Everything between two events of the clock waits only for promises, so one turn of the
      // event loop completes all of it.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#world.violation !== null) throw this.#world.violation;
    }
  }

  async #plan(): Promise<void> {
    const { life, scenario } = this.#world;
    const store = life?.store;
    if (store === undefined) throw new Error('the backend died before anything was planned');
    const epics: string[] = [];
    const tasks: string[] = [];
    await store.transaction(async (tx) => {
      for (let at = 0; at < scenario.epics; at += 1)
        epics.push((await addEpic(tx, store.sources, { title: `epic ${at}` })).id);
      for (const task of scenario.tasks) {
        const parent = task.parent === null ? null : (tasks[task.parent] ?? null);
        const row = await addTask(tx, store.sources, {
          title: task.title,
          ...(parent === null
            ? { epic: task.epic === null ? null : (epics[task.epic] ?? null) }
            : { parent }),
          blocked_by: task.blockedBy.map((at) => tasks[at] as string),
          type: task.type,
          agent: task.agent,
          priority: task.priority,
          max_attempts: task.maxAttempts,
          test_mode: task.testMode,
          plan: task.plan,
        });
        tasks.push(row.id);
      }
    });
    const main = this.#world.repository.refs.get('refs/heads/main') as string;
    this.#world.repository.moveRefs(
      [{ ref: 'refs/heads/other', next: main, old: null }],
      'person',
      'a branch',
    );
  }

  #startFirstRun(): void {
    const { scenario } = this.#world;
    const epics = this.#world.rows<{ id: string }>('select id from epics order by position');
    const [epic] = epics;
    if (scenario.crosses) for (const { id } of epics) this.#requests.run(id, { land: 'epic' });
    else if (epic === undefined || scenario.firstLand === null) this.#requests.run(null);
    else this.#requests.run(epic.id, { land: scenario.firstLand });
  }

  #schedulePerson(): void {
    const { personChance, scenario, clock } = this.#world;
    if (scenario.personEveryMs === 0) return;
    clock.timer(personChance.between(1, 2 * scenario.personEveryMs), () => {
      if (this.#world.calm) return;
      this.#wild.act();
      this.#schedulePerson();
    });
  }

  #scheduleTrouble(): void {
    const { productChance, scenario, clock } = this.#world;
    const chance = productChance.fork('trouble');
    const within = (): number => chance.below(scenario.chaosMs);
    if (scenario.crashes > 0)
      clock.timer(within(), () => this.#inTheWild(() => this.#world.crash('any time')));
    for (let times = scenario.standsStill; times > 0; times -= 1)
      clock.timer(within(), () => this.#inTheWild(() => this.#world.standStill()));
    if (scenario.leaves) clock.timer(within(), () => this.#inTheWild(() => this.#world.leave()));
    if (scenario.jumps)
      clock.timer(within(), () =>
        this.#inTheWild(() => clock.jump(chance.between(1_000, 3_600_000))),
      );
  }

  #inTheWild(act: () => void): void {
    if (!this.#world.calm) act();
  }

  #repeat(act: () => void): () => void {
    let stopped = false;
    const again = (): void => {
      if (stopped) return;
      act();
      this.#world.clock.timer(helpEveryMs, again);
    };
    again();
    return () => {
      stopped = true;
    };
  }

  #isQuiet(): boolean {
    const { life } = this.#world;
    if (life === null || !life.launched || this.#requests.isWaiting) return false;
    const [busy] = this.#world.rows(
      `select id from runs where state = 'active' union all
       select id from tasks where status in ('claimed', 'in_progress') and parent_id is null`,
    );
    return busy === undefined;
  }

  /** Nothing fails from now on: every active run must end by itself. */
  async #settle(): Promise<void> {
    const world = this.#world;
    world.calm = true;
    world.tell('from now on nothing goes wrong');
    world.commands.rules = { ...world.commands.rules, flakyShare: 0, setupFailShare: 0 };
    world.settings = { ...world.settings, gateTimeoutMs: 60_000, budget: noBudgets };
    const stop = this.#repeat(() => this.#helpful.actKindly());
    // Candidates multiply the work, and there may be only one worker.
    const workMs = settleMs * world.settings.bestOf;
    const quiet = await this.#until(workMs, () => this.#isQuiet());
    stop();
    if (!quiet) world.violate('stuck', 'a run does not end');
    else checkSettled(world);
    if (world.violation !== null) throw world.violation;
  }

  async #finish(): Promise<void> {
    const world = this.#world;
    const stop = this.#repeat(() => this.#helpful.act());
    const isDone = (): boolean =>
      this.#isQuiet() &&
      unfinishedTasks(world).length === 0 &&
      world.agents.live().length === 0 &&
      notArrived(world).length === 0;
    const done = await this.#until(finishMs, isDone);
    stop();
    if (!done) world.violate('stuck', this.#whyNotDone());
    else {
      await this.#until(10_000, () => false);
      checkEnd(world);
    }
    if (world.violation !== null) throw world.violation;
  }

  #whyNotDone(): string {
    const tasks = unfinishedTasks(this.#world);
    if (tasks.length > 0) return `${tasks.join(', ')} cannot be brought to the end`;
    const late = notArrived(this.#world);
    return late.length > 0
      ? `what has landed does not arrive on ${late.join(', ')}`
      : 'the end does not come';
  }

  outcome(): SeedOutcome {
    const world = this.#world;
    const rows = world.rows('select seq, type, at_ms, task_id, epic_id, run_id, data from events');
    const hash = createHash('sha1').update(JSON.stringify(rows)).digest('hex');
    const states = world.rows<{ id: string; status: string; last_error: string | null }>(
      'select id, status, phase, stop_requested, blocked_reason, attempts, epoch, last_error from tasks',
    );
    return {
      seed: world.seed,
      violation: world.violation?.message ?? null,
      invariant: world.violation?.invariant ?? null,
      feedHash: hash,
      events: rows.length,
      types: this.#checks.replay.types,
      crashes: world.crashes,
      simulatedMs: world.clock.now() - this.#beganMs,
      story: [
        ...world.story.slice(-80),
        ...this.#checks.replay.last.map(
          (event) =>
            `event ${event.seq} at ${event.at_ms - this.#beganMs}: ${event.type} ${event.task_id ?? ''} ${JSON.stringify(event.data).slice(0, 200)}`,
        ),
        ...states.map((state) => `task ${JSON.stringify(state)}`),
        ...world
          .rows('select * from runs order by started_at_ms desc limit 3')
          .map((row) => `run ${JSON.stringify(row)}`),
        ...world.rows('select * from lines').map((row) => `line ${JSON.stringify(row)}`),
        ...world
          .rows(
            "select id, state, error, owner, epoch from workflows where state <> 'succeeded' order by seq desc limit 8",
          )
          .map((row) => `workflow ${JSON.stringify(row)}`),
      ],
    };
  }
}
