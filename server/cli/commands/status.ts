// status: the state of all tasks, once or continuously.

import type { Client, StatusSnapshot } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { followFeed } from '../follow-feed.ts';
import { untilInterrupted } from '../interrupt.ts';
import { formatSummaryLine } from '../render/summary.ts';

export interface StatusOptions {
  readonly epic?: string;
  readonly tree?: boolean;
  readonly watch?: boolean;
  readonly oneline?: boolean;
  readonly all?: boolean;
}

export async function status(context: CommandContext, options: StatusOptions): Promise<number> {
  const client = await context.client('data');
  const scope: Scope = options.epic === undefined ? {} : { epic: options.epic };
  const snapshot = await client.call('status', scope);
  const show = await shower(context, options);
  show(snapshot);
  if (options.watch !== true) return exitCodes.done;
  const watch = new StatusWatch(context, client, scope, show);
  return await untilInterrupted(context, (end) =>
    followFeed(context, client, snapshot.seq, {
      onEvents: () => watch.onEvents(),
      onClient: (next) => watch.onClient(next),
      onFailure: end,
    }),
  );
}

/** Shows one snapshot, of now or of an earlier moment. */
export async function showSnapshot(
  context: CommandContext,
  snapshot: StatusSnapshot,
  options: Pick<StatusOptions, 'tree'>,
  nowMs: number,
): Promise<void> {
  (await shower(context, options, nowMs))(snapshot);
}

type Show = (snapshot: StatusSnapshot) => void;
type Scope = { readonly epic?: string };

const pipeWidth = 400;

async function shower(
  context: CommandContext,
  options: StatusOptions,
  nowMs?: number,
): Promise<Show> {
  if (context.json) return (snapshot) => context.printJson(snapshot);
  if (options.oneline === true) return (snapshot) => context.say(formatSummaryLine(snapshot));
  const { surroundings, color } = context;
  const { stdout } = surroundings;
  const { statusText } = await import('../render/status-text.ts');
  const text = (snapshot: StatusSnapshot): string =>
    statusText(snapshot, {
      // Output to a file or another program is not truncated.
      width: stdout.isTTY ? stdout.columns : pipeWidth,
      color,
      nowMs: nowMs ?? surroundings.nowMs(),
      tree: options.tree === true,
      all: options.all === true,
    });
  if (options.watch !== true || !stdout.isTTY) return (snapshot) => context.say(text(snapshot));
  const { createScreen: screenOf } = await import('../render/screen.ts');
  const screen = screenOf(stdout);
  return (snapshot) => screen.draw(text(snapshot));
}

const watchEveryMs = 250;

/** Updates no faster than a person can read, with at most one query at a time. */
class StatusWatch {
  readonly #context: CommandContext;
  readonly #scope: Scope;
  readonly #show: Show;
  #client: Client;
  #isStale = false;
  #isLooking = false;

  constructor(context: CommandContext, first: Client, scope: Scope, show: Show) {
    this.#context = context;
    this.#client = first;
    this.#scope = scope;
    this.#show = show;
  }

  onEvents(): void {
    this.#isStale = true;
    void this.#look();
  }

  onClient(next: Client): void {
    this.#client = next;
    this.onEvents();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.#context.surroundings.sleep(watchEveryMs);
        this.#show(await this.#client.call('status', this.#scope));
      }
    } catch {
      // The backend has just exited. The next one is used as soon as it exists.
    } finally {
      this.#isLooking = false;
    }
  }
}
