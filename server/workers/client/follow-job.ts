// Follows a job's output to its end: reconnects with the last id, reports every gap, and handles
// each known defect of runtimes.

import { setTimeout as delay } from 'node:timers/promises';
import { workerEventSchema, type WorkerEvent } from '../wire-schemas.ts';
import { gapNotice, streamPath } from '../wire.ts';
import { EventParser, type StreamEvent } from './event-parser.ts';
import { ReplayFilter } from './replay-filter.ts';
import { askWorker, toSingleLine, readText, type WorkerAddress } from './request.ts';

export type OutputStream = 'stdout' | 'stderr';

export interface JobOutput {
  onLine(stream: OutputStream, line: string): void;
  /** Output was lost. `count` is null if the number is unknown. */
  onGap(count: number | null): void;
  /** The worker is unreachable. Called once until it responds again. */
  onAway(message: string): void;
}

export type JobEnd =
  | { readonly kind: 'done'; readonly exitCode: number; readonly signal: string | null }
  /** The runtime repeatedly ended the stream without a status. */
  | { readonly kind: 'no_status' }
  /** `isForgotten`: the runtime responds but no longer knows the job, which may have finished. */
  | { readonly kind: 'lost'; readonly message: string; readonly isForgotten?: true }
  | { readonly kind: 'aborted' };

export interface FollowTimes {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** How long connection attempts may fail without any success. */
  readonly giveUpMs: number;
  /** After this long without data, the connection is reopened, which is not a failure. */
  readonly quietMs: number;
}

/** Called after a failed connection. Returns true if the instance certainly no longer exists. */
export type IsGone = () => Promise<boolean>;

export const followTimes: FollowTimes = {
  firstDelayMs: 500,
  longestDelayMs: 15_000,
  giveUpMs: 300_000,
  quietMs: 120_000,
};

/** After this many consecutive empty streams, a job counts as ended without a status. */
const emptyStreamsMax = 3;
/** Maximum number of characters kept of a line that arrives in parts. */
const partialCharsMax = 4 * 1024 * 1024;

/** The result of one connection. */
type Connection =
  | { readonly kind: 'end'; readonly end: JobEnd }
  | { readonly kind: 'closed' }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'failed'; readonly message: string };

export interface FollowOptions {
  readonly times?: FollowTimes;
  readonly isGone?: IsGone;
}

export async function followJob(
  worker: WorkerAddress,
  jobId: string,
  output: JobOutput,
  signal: AbortSignal,
  { times = followTimes, isGone = async () => false }: FollowOptions = {},
): Promise<JobEnd> {
  const follower = new Follower(worker, jobId, output, { times, isGone });
  return await follower.follow(signal);
}

class Follower {
  readonly #worker: WorkerAddress;
  readonly #jobId: string;
  readonly #output: JobOutput;
  readonly #times: FollowTimes;
  readonly #isGone: IsGone;
  readonly #replay: ReplayFilter;
  readonly #partial = new Map<OutputStream, string>();
  /** Id of the last complete event. */
  #lastId: number | null = null;
  #news = 0;

  constructor(
    worker: WorkerAddress,
    jobId: string,
    output: JobOutput,
    { times, isGone }: Required<FollowOptions>,
  ) {
    this.#worker = worker;
    this.#jobId = jobId;
    this.#output = output;
    this.#times = times;
    this.#isGone = isGone;
    this.#replay = new ReplayFilter((event) => this.#tell(event));
  }

  async follow(signal: AbortSignal): Promise<JobEnd> {
    let failedSince: number | null = null;
    let empty = 0;
    let delayMs = this.#times.firstDelayMs;
    while (!signal.aborted) {
      const before = this.#news;
      const connection = await this.#connect(signal);
      if (signal.aborted && connection.kind !== 'end') break;
      if (this.#news > before) delayMs = this.#times.firstDelayMs;
      switch (connection.kind) {
        case 'end':
          this.#flushPartial();
          return connection.end;
        case 'quiet':
          failedSince = null;
          empty = 0;
          continue;
        case 'closed':
          failedSince = null;
          // Repeated output is not news either.
          empty = this.#news === before ? empty + 1 : 0;
          if (empty >= emptyStreamsMax) {
            this.#flushPartial();
            return { kind: 'no_status' };
          }
          break;
        case 'failed':
          if (await this.#isGone()) return { kind: 'lost', message: 'The worker has ended.' };
          if (failedSince === null) this.#output.onAway(connection.message);
          failedSince ??= performance.now();
          if (performance.now() - failedSince >= this.#times.giveUpMs) {
            return { kind: 'lost', message: `The worker is unreachable: ${connection.message}.` };
          }
      }
      await delay(delayMs * (0.8 + 0.4 * Math.random()), null, { signal }).catch(() => null);
      delayMs = Math.min(delayMs * 2, this.#times.longestDelayMs);
    }
    return { kind: 'aborted' };
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const connection = new AbortController();
    const onAbort = (): void => connection.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    let isQuiet = false;
    const onQuiet = (): void => {
      isQuiet = true;
      connection.abort();
    };
    let timer = setTimeout(onQuiet, this.#times.quietMs);
    try {
      const answer = await askWorker(this.#worker, {
        method: 'GET',
        path: streamPath(this.#jobId),
        headers: this.#lastId === null ? {} : { 'last-event-id': String(this.#lastId) },
        signal: connection.signal,
      });
      if (answer.statusCode !== 200) {
        return refusedConnection(answer.statusCode ?? 0, await readText(answer));
      }
      const parser = new EventParser();
      this.#replay.begin(this.#lastId === null && this.#news > 0);
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        clearTimeout(timer);
        timer = setTimeout(onQuiet, this.#times.quietMs);
        for (const event of parser.push(chunk)) {
          const end = this.#take(event);
          if (end !== null) {
            answer.destroy();
            return { kind: 'end', end };
          }
        }
      }
      this.#replay.end();
      return { kind: 'closed' };
    } catch (error) {
      this.#replay.end();
      if (isQuiet) return { kind: 'quiet' };
      const message = error instanceof Error ? error.message : String(error);
      return { kind: 'failed', message: toSingleLine(message) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Returns non-null if the job has ended. An end counts even if its id is already known. */
  #take(event: StreamEvent): JobEnd | null {
    const parsed = parseEvent(event.data);
    if (parsed === null) return null;
    const id = event.id !== null && /^\d{1,15}$/.test(event.id) ? Number(event.id) : null;
    if (parsed.done === true) {
      this.#replay.end();
      this.#noteJump(id);
      return { kind: 'done', exitCode: parsed.exit_code, signal: parsed.signal ?? null };
    }
    if (id === null) {
      this.#replay.take(parsed);
      return null;
    }
    if (this.#lastId !== null && id <= this.#lastId) return null;
    this.#noteJump(id);
    this.#lastId = id;
    this.#tell(parsed);
    return null;
  }

  #noteJump(id: number | null): void {
    const expected = this.#lastId === null ? 0 : this.#lastId + 1;
    if (id !== null && id > expected) this.#output.onGap(id - expected);
  }

  #tell(event: WorkerEvent): void {
    if (event.done === true) return;
    this.#news += 1;
    const stream = event.stream === 'stderr' ? 'stderr' : 'stdout';
    const line = event.line ?? '';
    if (event.stream === 'stderr' && line === gapNotice) {
      this.#output.onGap(null);
      return;
    }
    const whole = (this.#partial.get(stream) ?? '') + line;
    if (event.partial === true && whole.length < partialCharsMax) {
      this.#partial.set(stream, whole);
      return;
    }
    this.#partial.delete(stream);
    this.#output.onLine(stream, whole);
  }

  #flushPartial(): void {
    for (const [stream, line] of this.#partial) this.#output.onLine(stream, line);
    this.#partial.clear();
  }
}

export interface Stop {
  readonly signal: AbortSignal;
  /** Asks the job to stop. */
  readonly cancel: () => Promise<unknown>;
  /** How long the job is followed after that. */
  readonly waitMs: number;
}

/** Follows a job that the user, or the end of this process, may stop. */
export async function followUntilStopped(
  { signal, cancel, waitMs }: Stop,
  follow: (over: AbortSignal) => Promise<JobEnd>,
): Promise<JobEnd> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | null = null;
  const onStop = (): void => {
    void cancel();
    timer = setTimeout(() => over.abort(), waitMs);
  };
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });
  try {
    return await follow(over.signal);
  } finally {
    if (timer !== null) clearTimeout(timer);
    signal.removeEventListener('abort', onStop);
  }
}

/** Returns null if it is not an event of the contract; the caller skips it. */
function parseEvent(data: string): WorkerEvent | null {
  try {
    const parsed = workerEventSchema.safeParse(JSON.parse(data));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function refusedConnection(status: number, body: string): Connection {
  const words = `it answered ${status} ${toSingleLine(body)}`.trim();
  const isPassing = status === 408 || status === 429 || status >= 500;
  if (isPassing) return { kind: 'failed', message: words };
  if (status === 404) {
    const message = `The worker has lost the job (${toSingleLine(body)}).`;
    return { kind: 'end', end: { kind: 'lost', message, isForgotten: true } };
  }
  const message = `The worker refuses to report on the job: ${words}.`;
  return { kind: 'end', end: { kind: 'lost', message } };
}
