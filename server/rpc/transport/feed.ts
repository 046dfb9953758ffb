// The numbered feed as the transport sees it, and the pump that carries it to one follower: in
// frames, never more than a few of them under way, and read again from the database by number
// instead of being kept in memory.

import type { EventView } from '../../protocol/api.ts';

export interface Feed {
  /** Events with a number above `after`, in order, at most `limit`. */
  read(after: number, limit: number): Promise<readonly EventView[]>;
  /** Calls back when something was appended; returns unsubscribe. */
  onAppend(listener: () => void): () => void;
  /** The number of the newest event; 0 when there is none. */
  lastSeq(): Promise<number>;
  /** The last event that was removed because it was old; without it, none ever is. */
  lastPruned?(): Promise<number>;
}

export interface FeedPumpOptions {
  readonly feed: Feed;
  readonly after: number;
  /** Resolves when the frame has left this process: what bounds how many are under way. */
  readonly deliver: (events: readonly EventView[]) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  readonly frameMs?: number;
  /**
   * Another process may append without a word to this one: then the feed is looked at this often.
   */
  readonly pollMs?: number;
  /**
   * The process stays for as long as it is followed: nothing else keeps a command that only
   * watches.
   */
  readonly staysAlive?: boolean;
  readonly outstandingMax?: number;
  readonly batch?: number;
}

/** Starts to carry; returns stop. */
export function startFeedPump(options: FeedPumpOptions): () => void {
  const { feed, frameMs = 16, pollMs = 1000, outstandingMax = 8, batch = 500 } = options;
  let sent = options.after;
  let outstanding = 0;
  let phase: 'idle' | 'scheduled' | 'reading' | 'stopped' = 'idle';
  let again = false;
  let framedMs = Number.NEGATIVE_INFINITY;

  const stop = (): void => {
    phase = 'stopped';
    clearInterval(poll);
    unsubscribe();
  };
  const fail = (error: unknown): void => {
    if (phase === 'stopped') return;
    stop();
    options.onFailure(error);
  };
  const schedule = (): void => {
    if (phase === 'reading') again = true;
    if (phase !== 'idle') return;
    phase = 'scheduled';
    // At once after a rest: only what comes faster than frames has to wait.
    const sinceMs = performance.now() - framedMs;
    setTimeout(
      () => {
        frame().catch(fail);
      },
      Math.max(0, frameMs - sinceMs),
    );
  };
  const isStopped = (): boolean => phase === 'stopped';
  const frame = async (): Promise<void> => {
    if (isStopped()) return;
    phase = 'idle';
    if (outstanding >= outstandingMax) {
      again = true; // whoever frees a place schedules the next frame
      return;
    }
    phase = 'reading';
    framedMs = performance.now();
    again = false;
    const events = await feed.read(sent, batch);
    if (isStopped()) return;
    phase = 'idle';
    const last = events.at(-1);
    if (last !== undefined) {
      sent = last.seq;
      outstanding += 1;
      options.deliver(events).then(() => {
        outstanding -= 1;
        if (again || outstanding === outstandingMax - 1) schedule();
      }, fail);
    }
    if (again || events.length >= batch) schedule();
  };

  const unsubscribe = feed.onAppend(schedule);
  const poll = setInterval(schedule, pollMs);
  if (options.staysAlive !== true) poll.unref();
  schedule();
  return stop;
}
