// Handles a person's requests for a task that runs on another machine of the fleet. The rows
// contain the requests and the feed announces changes. This code passes them to the running
// workflow.

import { askedToStop, endedQuestions, tasksWithOpenHints } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

/**
 * The feed may miss events while its connection is lost, so the rows are also read at this
 * interval.
 */
const lookAgainMs = 2_000;

type Parts = Uses<'clock' | 'machineId' | 'report' | 'store' | 'switchboard'>;

/**
 * Starts listening and returns a function that stops. Does nothing on a single machine, where every
 * request arrives in this process.
 */
export function followFleetRequests(engine: Parts): () => void {
  if (engine.machineId === '') return () => {};
  const requests = new FleetRequests(engine);
  return () => requests.stop();
}

class FleetRequests {
  readonly #engine: Parts;
  readonly #offFeed: () => void;
  #offTimer = (): void => {};
  #isLooking = false;
  #isAsked = false;
  #isStopped = false;

  constructor(engine: Parts) {
    this.#engine = engine;
    this.#offFeed = engine.store.feed.onAppend(() => this.#look());
    this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#offFeed();
    this.#offTimer();
  }

  #look(): void {
    this.#isAsked = true;
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    this.#isAsked = false;
    passOn(this.#engine)
      .catch((error: unknown) => this.#engine.report(error, 'listening to other machines'))
      .finally(() => {
        this.#isLooking = false;
        if (this.#isAsked) this.#look();
      });
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#offTimer = this.#engine.clock.timer(lookAgainMs, () => {
      this.#look();
      this.#lookLater();
    });
  }
}

async function passOn(engine: Uses<'store' | 'switchboard'>): Promise<void> {
  const { db } = engine.store;
  const { switchboard } = engine;
  const stoppable = [...new Set(switchboard.stoppable().map(({ taskId }) => taskId))];
  for (const { id, epoch } of await askedToStop(db, stoppable)) switchboard.stop(id, epoch);
  for (const { id, answer } of await endedQuestions(db, switchboard.questionsOpen()))
    switchboard.answered(id, answer);
  for (const id of await tasksWithOpenHints(db, switchboard.tasksWithHints()))
    switchboard.hintAdded(id);
}
