// Takes care of everything that no workflow owns: brings landed work to a branch that it waits for,
// keeps lines of active runs in step with users' branches, and releases tasks that an ended run
// left without an owner.

import { endReassignedTasks } from './given-away.ts';
import { returnOrphans } from './orphans.ts';
import { activeRuns } from './start-run.ts';
import { sweepBranches } from './sweep.ts';
import { gateOfRun } from '../attempt/submission.ts';
import { landingRef } from '../../core/work/ref-names.ts';
import type { Engine } from '../kit/engine-ports.ts';
import { runGate } from '../landing/gate.ts';
import { tendLine, type TestTogether } from '../line/follow.ts';
import { syncLine } from '../line/line.ts';
import { checkWrongStates } from '../line/wrong-states.ts';
import type { Sha } from '../../git/sha.ts';
import { allLines, lastFinishedRun, type LineRow, newestRun } from '../../store/port.ts';

const tryAgainMs = 2_000;
/**
 * A merge that was red is tested again after this time, because the cause may be outside of the
 * tree.
 */
const redAgainMs = 600_000;

/** Checks from `begin` until `end`. A check costs a few small queries while nothing waits. */
export class LineTending {
  readonly #engine: Engine;
  readonly #stopped = new AbortController();
  #off = (): void => {};
  #swept: string | null = null;
  #round = 0;
  /** The tip of each branch in the last round. */
  readonly #followed = new Map<string, Sha | null>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  begin(): this {
    this.#again();
    return this;
  }

  #again(): void {
    if (this.#stopped.signal.aborted) return;
    const { clock, switchboard, report } = this.#engine;
    this.#off = clock.timer(tryAgainMs, () => {
      switchboard
        .whileWorking(() => this.#look())
        .catch((error: unknown) => report(error, 'following landed work'))
        .finally(() => this.#again());
    });
  }

  end(): void {
    this.#stopped.abort();
    this.#off();
  }

  async #look(): Promise<void> {
    const engine = this.#engine;
    if (engine.machineId !== '') await endReassignedTasks(engine);
    const active = await activeRuns(engine);
    // An active run checks its own tasks. Without one, an approval or a stop may have lost its
    // workflow.
    if (active.length === 0) {
      await returnOrphans(engine);
      await this.#sweepHere();
    }
    const inUse = new Set(active.flatMap((run) => [run.line, run.target_branch]));
    this.#round += 1;
    for (const line of await allLines(engine.store.db)) {
      if (this.#stopped.signal.aborted) return;
      await this.#tend(line, inUse.has(line.branch));
    }
  }

  async #tend(line: LineRow, isInUse: boolean): Promise<void> {
    const engine = this.#engine;
    const { branch, followed_sha: followed } = line;
    await checkWrongStates(engine, line, this.#followed.get(branch) ?? null, this.#round);
    this.#followed.set(branch, followed);
    const isBehind = line.pending > 0 || line.landed_sha !== followed || (await this.#wasCut(line));
    // If another machine tests merges, this one only moves the branch.
    if (isBehind) await tendLine(engine, branch, engine.lands() ? this.#gate(branch) : null);
    // A person's decision may release a held line. A state of the branch that was never recorded
    // could not be recognized as removed later.
    else if (isInUse || line.held_reason !== null) await syncLine(engine, branch);
  }

  /** A process moved the line but died before it recorded the move. */
  async #wasCut({ branch, landed_sha: landed }: LineRow): Promise<boolean> {
    if (this.#round > 1) return false;
    const tip = await this.#engine.git.readRef(landingRef(branch));
    return tip !== null && tip !== landed;
  }

  #gate(branch: string): TestTogether {
    const engine = this.#engine;
    return async ({ commit, tree }) => {
      const run = await newestRun(engine.store.db, { target: branch });
      const command = gateOfRun(engine, run);
      if (command === null) return null;
      const redSinceMs = engine.clock.now() - redAgainMs;
      const question = { commit, tree, command, taskIds: [], redSinceMs };
      const verdict = await runGate(engine, question, this.#stopped.signal);
      switch (verdict.kind) {
        case 'green':
          return null;
        case 'aborted':
          return 'the gate was interrupted';
        case 'red':
        case 'unusable':
          return verdict.failure.message;
      }
    };
  }

  /**
   * The machine that ran a run has swept its own clone. Other machines also have branches of landed
   * work.
   */
  async #sweepHere(): Promise<void> {
    const engine = this.#engine;
    if (engine.machineId === '') return;
    const last = await lastFinishedRun(engine.store.db);
    if (last === null || last === this.#swept) return;
    await sweepBranches(engine);
    this.#swept = last;
  }
}
