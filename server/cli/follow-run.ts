// Follows a run to its end: every event in order, across a backend's death and its successor, until
// the run is over or the user presses Ctrl-C.

import { Refusal } from '../core/failure.ts';
import type { Client, EventView } from '../protocol/api.ts';
import type { CommandContext } from './context.ts';
import type { InterruptWatch } from './interrupt.ts';
import { plainLine } from './plain-text.ts';
import { eventLine } from './render/event-line.ts';
import { SignalBox } from './signal-box.ts';
import type { RunDisplay } from './run-display.ts';
import type { RunStarted } from '../protocol/run-views.ts';

export interface RunEnd {
  /** The current client. It changes if the backend died. */
  readonly client: Client;
  readonly interrupted: boolean;
  /**
   * Why the run could not be stopped after an interrupt. Null if it was stopped or not interrupted.
   */
  readonly notStopped: string | null;
  /** The end that the run reported; null if it was stopped. */
  readonly finished: EventView | null;
}

const stopWaitMs = 60_000;
/** Limits the tries, because a disk that stays full makes each of them fail. */
const stopTriesMax = 10;
const connectTriesMax = 12;
const connectDelayMaxMs = 3000;
/** Waits half an hour for an unreachable database, as the run does. */
const databaseTriesMax = 600;
const pageSize = 1000;

type Signal = 'over' | 'gone' | 'interrupt';

export async function followRun(
  context: CommandContext,
  client: Client,
  started: RunStarted,
  interrupts: InterruptWatch,
): Promise<RunEnd> {
  const display = await displayOf(context, client, started);
  const follower = new RunFollower(context, client, started, display, interrupts);
  try {
    return await follower.toTheEnd();
  } finally {
    await display.done();
  }
}

async function displayOf(
  context: CommandContext,
  client: Client,
  started: RunStarted,
): Promise<RunDisplay> {
  if (!context.json && context.surroundings.stdout.isTTY) {
    const { liveDisplay } = await import('./render/live.ts');
    return liveDisplay(context, client, started.run);
  }
  return {
    onEvents(events) {
      for (const event of events) {
        if (context.json) context.printJson(event);
        else context.say(eventLine(event));
      }
    },
    onNotice: (text) => context.tell(text),
    onClient: () => {},
    done: async () => {},
  };
}

class RunFollower {
  readonly #context: CommandContext;
  readonly #runId: string;
  readonly #display: RunDisplay;
  readonly #interrupts: InterruptWatch;
  readonly #signals = new SignalBox<Signal>();
  #client: Client;
  #last: number;
  #isOver = false;
  /** Its agents are being stopped, and its last event is still to come. */
  #isStopped = false;
  #finished: EventView | null = null;
  #stopFailures: readonly unknown[] = [];

  constructor(
    context: CommandContext,
    client: Client,
    started: RunStarted,
    display: RunDisplay,
    interrupts: InterruptWatch,
  ) {
    this.#context = context;
    this.#client = client;
    this.#runId = started.run.id;
    this.#last = started.after;
    this.#display = display;
    this.#interrupts = interrupts;
    interrupts.onFirst(() => this.#signals.give('interrupt'));
  }

  async toTheEnd(): Promise<RunEnd> {
    for (;;) {
      const signal = await this.#followUntilSignal();
      // A stopped run is over even if its backend exited before it could report that.
      const isLost = signal === 'gone' && (!this.#isStopped || this.#interrupts.isInterrupted);
      const hasGivenUp = isLost && this.#stopFailures.length >= stopTriesMax;
      if (isLost && !hasGivenUp) {
        if (!(await this.#isStillThere())) await this.#connectAgain();
        continue;
      }
      return {
        client: this.#client,
        finished: this.#finished,
        interrupted: signal === 'interrupt' || hasGivenUp,
        notStopped: hasGivenUp ? reasonOf(this.#stopFailures.at(-1)) : null,
      };
    }
  }

  /** The backend refused to stop the run for a temporary reason, and otherwise responds. */
  async #isStillThere(): Promise<boolean> {
    if (!isDatabaseTrouble(this.#stopFailures.at(-1))) return false;
    await this.#context.surroundings.sleep(pauseMs(this.#stopFailures.length));
    return this.#client.call('events.read', { after: this.#last, limit: 1 }).then(
      () => true,
      () => false,
    );
  }

  /**
   * Follows with the current client until the run is over, the user interrupts or the backend is
   * gone.
   */
  async #followUntilSignal(): Promise<'over' | 'interrupt' | 'gone'> {
    const client = this.#client;
    const signals = this.#signals;
    let unfollow: () => void = () => {};
    try {
      unfollow = await client.follow(
        this.#last,
        (events) => this.#onEvents(events),
        () => signals.give('gone'),
      );
      const signal = this.#isOver ? 'over' : await signals.take();
      if (signal === 'interrupt') await this.#stopRun();
      return signal;
    } catch (error) {
      if (error instanceof Refusal && !isDatabaseTrouble(error)) throw error;
      // An interrupt that failed is repeated, including with the next backend.
      if (this.#interrupts.isInterrupted) {
        signals.give('interrupt');
        this.#stopFailures = [...this.#stopFailures, error];
      }
      return 'gone';
    } finally {
      unfollow();
    }
  }

  #onEvents(batch: readonly EventView[]): void {
    if (this.#isOver) return;
    const fresh = batch.filter((event) => event.seq > this.#last);
    this.#last = fresh.at(-1)?.seq ?? this.#last;
    const ours = fresh.filter((event) => event.run_id === null || event.run_id === this.#runId);
    const endAt = ours.findIndex((event) => event.type === 'run.finished');
    this.#display.onEvents(endAt === -1 ? ours : ours.slice(0, endAt + 1));
    for (const { type } of ours) {
      if (type === 'run.stopped') this.#isStopped = true;
      if (type === 'run.resumed') this.#isStopped = false;
    }
    const end = ours[endAt];
    if (end === undefined) return;
    this.#isOver = true;
    this.#finished = end;
    this.#signals.give('over');
  }

  /** Resolves when the agents have ended and all their events were shown. */
  async #stopRun(): Promise<void> {
    const failed = this.#stopFailures.at(-1);
    if (failed === undefined)
      this.#display.onNotice(
        'Stopping the agents and releasing their tasks (press Ctrl-C again to leave immediately) …',
      );
    else if (this.#stopFailures.length === 1 && isDatabaseTrouble(failed))
      this.#display.onNotice(reasonOf(failed));
    const late = this.#context.surroundings.sleep(stopWaitMs);
    await Promise.race([this.#client.call('run.stop', { run: this.#runId }), late]);
    for (;;) {
      const page = await this.#client.call('events.read', { after: this.#last, limit: pageSize });
      if (page.events.length === 0) return;
      this.#onEvents(page.events);
    }
  }

  /**
   * A newly started backend continues the run by itself. The number of tries is limited, with
   * growing pauses.
   */
  async #connectAgain(): Promise<void> {
    const context = this.#context;
    this.#display.onNotice('Lost the connection to the backend. Reconnecting …');
    this.#client.close();
    let triesMax = connectTriesMax;
    for (let tries = 1; ; tries += 1) {
      await context.surroundings.sleep(pauseMs(tries));
      try {
        this.#client = await context.client('engine');
        // A running backend may have lost its database, in which case nothing could be followed.
        await this.#client.call('events.read', { after: this.#last, limit: 1 });
        this.#signals.drop('gone');
        this.#display.onClient(this.#client);
        this.#display.onNotice('The backend is back.');
        return;
      } catch (error) {
        if (isDatabaseTrouble(error) && triesMax < databaseTriesMax) {
          triesMax = databaseTriesMax;
          this.#display.onNotice(reasonOf(error));
        }
        if (tries < triesMax) continue;
        throw new Error(
          `The backend could not be reached again (${reasonOf(error)}); ` +
            'nothing is lost; to continue, run: drover resume',
          { cause: error },
        );
      }
    }
  }
}

function pauseMs(tries: number): number {
  return Math.min(connectDelayMaxMs, 100 * 2 ** tries);
}

function reasonOf(error: unknown): string {
  return plainLine(error instanceof Error ? error.message : String(error));
}

/**
 * A temporary problem: a fleet's database restarts or is unreachable, or the project's disk is
 * full.
 */
function isDatabaseTrouble(error: unknown): boolean {
  return error instanceof Refusal && error.kind === 'database';
}
