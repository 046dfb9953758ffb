// One job: its command, its stored events, and the clients that read them (worker contract §4, §5,
// §9).

import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { DoneEvent, WorkerEvent } from '../wire-schemas.ts';
import { startCommand, type CommandExit, type RunningCommand } from './command.ts';
import { EventRing } from './event-ring.ts';
import { FollowedOutput } from './followed-output.ts';
import type { Leash } from './leash.ts';
import { LineCutter, type CutLine } from './line-cutter.ts';
import { StreamReader } from './stream-reader.ts';
import type { WorkerTimes } from './times.ts';

/** How long to wait for the output of an ended command if another process holds it open. */
const outputMs = 2000;

export interface JobOptions {
  readonly id: string;
  readonly command: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly leash: Leash;
  readonly times: WorkerTimes;
}

export class Job {
  readonly id: string;
  readonly ended: Promise<void>;
  readonly #options: JobOptions;
  readonly #ring = new EventRing();
  readonly #readers = new Set<StreamReader>();
  #running: RunningCommand | null = null;
  #isCanceled = false;
  #isEnded = false;
  #onRoom: (() => void)[] = [];
  /** Runs until the first reader arrives, or its time is over. */
  #arrival: NodeJS.Timeout | null = null;
  #wasRead = false;

  constructor(options: JobOptions) {
    this.id = options.id;
    this.#options = options;
    this.ended = this.#run();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get keptCharacters(): number {
    return this.#ring.characters;
  }

  /** Sends the events after `Last-Event-ID`. The response's head must be written. */
  read(response: ServerResponse, lastEventId: string | undefined): void {
    const reader = new StreamReader({
      ring: this.#ring,
      response,
      firstId: this.#firstId(lastEventId),
      isJobEnded: () => this.#isEnded,
      onChange: () => this.#onReaderChange(),
      times: this.#options.times,
    });
    this.#readers.add(reader);
    reader.pump();
    this.#wasRead = true;
    this.#endArrival();
  }

  /**
   * Sends TERM to the command's group, and KILL if it does not react. Does nothing for an ended
   * job.
   */
  cancel(): void {
    if (this.#isCanceled || this.#isEnded) return;
    this.#isCanceled = true;
    if (this.#running !== null) this.#endGroup(this.#running);
  }

  /** Frees the memory of an ended job, except for its end. */
  shrink(): void {
    this.#ring.keepLastOnly();
  }

  /** The job can no longer be requested. */
  forget(): void {
    for (const reader of this.#readers) reader.destroy();
  }

  /** Resolves when every reader has received the end or has disconnected. */
  async readersGone(): Promise<void> {
    while (this.#readers.size > 0) await this.#nextChange();
  }

  async #run(): Promise<void> {
    const { command, folder, env, leash } = this.#options;
    const started = await startCommand({ command, folder, env });
    if (!started.ok) {
      this.#push({ line: started.error, stream: 'stderr' });
      await this.#end({ code: 1, signal: null });
      return;
    }
    const running = started.value;
    this.#running = running;
    leash.hold(running.groupId);
    if (!this.#wasRead) {
      this.#arrival = setTimeout(() => this.#endArrival(), this.#options.times.stalledMs);
    }
    if (this.#isCanceled) this.#endGroup(running);
    const outputs = [
      this.#follow('stdout', running.stdout),
      this.#follow('stderr', running.stderr),
    ];
    const exit = await running.exited;
    await this.#outputsEnded(outputs.map(({ output }) => output));
    // Leftovers of the command in its group must not keep running in the next job's workspace.
    running.signalGroup('SIGKILL');
    leash.release();
    for (const { stream, cutter } of outputs) await this.#pushLines(stream, cutter.end());
    await this.#end(exit);
  }

  async #outputsEnded(outputs: readonly FollowedOutput[]): Promise<void> {
    const ended = Promise.all(outputs.map((output) => output.ended));
    const timer = new AbortController();
    await Promise.race([
      ended,
      delay(outputMs, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
    await Promise.all(outputs.map((output) => output.stop()));
  }

  #follow(stream: string, socket: RunningCommand['stdout']): Followed {
    const cutter = new LineCutter();
    const take = (chunk: Buffer): Promise<void> | undefined =>
      this.#pushLines(stream, cutter.cut(chunk));
    return { stream, cutter, output: new FollowedOutput(socket, take) };
  }

  /** Returns a promise if a reader must read something first. */
  #pushLines(stream: string, lines: Iterator<CutLine>): Promise<void> | undefined {
    for (;;) {
      if (this.#mustWait()) return this.#nextChange().then(() => this.#pushLines(stream, lines));
      const { done, value } = lines.next();
      if (done === true) break;
      const { line, isPartial } = value;
      this.#push(isPartial ? { line, partial: true, stream } : { line, stream });
    }
    this.#pumpAll();
    return undefined;
  }

  async #end({ code, signal }: CommandExit): Promise<void> {
    while (this.#mustWait()) await this.#nextChange();
    const done: DoneEvent = { done: true, exit_code: code };
    this.#push(signal === null ? done : { ...done, signal });
    this.#isEnded = true;
    this.#endArrival();
    this.#pumpAll();
  }

  #push(event: WorkerEvent): void {
    this.#ring.push(event);
  }

  /** A command may print thousands of lines before the client that started it can request them. */
  #endArrival(): void {
    if (this.#arrival === null) return;
    clearTimeout(this.#arrival);
    this.#arrival = null;
    this.#onReaderChange();
  }

  /** Whether the next event would replace one that a reader still needs. */
  #mustWait(): boolean {
    if (!this.#ring.isFull || !this.#isOldestNeeded()) return false;
    this.#pumpAll();
    return this.#isOldestNeeded();
  }

  #isOldestNeeded(): boolean {
    if (this.#arrival !== null) return true;
    return [...this.#readers].some((reader) => reader.needs(this.#ring.oldestId));
  }

  #pumpAll(): void {
    for (const reader of this.#readers) reader.pump();
  }

  #onReaderChange(): void {
    for (const reader of this.#readers) if (reader.isClosed) this.#readers.delete(reader);
    const listeners = this.#onRoom;
    this.#onRoom = [];
    for (const listener of listeners) listener();
  }

  async #nextChange(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onRoom.push(resolve);
    });
  }

  #endGroup(running: RunningCommand): void {
    running.signalGroup('SIGTERM');
    // A stopped process handles TERM only after it continues.
    running.signalGroup('SIGCONT');
    const timer = setTimeout(() => running.signalGroup('SIGKILL'), this.#options.times.killAfterMs);
    void this.ended.then(() => clearTimeout(timer));
  }

  #firstId(lastEventId: string | undefined): number {
    const { oldestId, nextId } = this.#ring;
    const last =
      lastEventId !== undefined && /^-?\d+$/.test(lastEventId) ? Number(lastEventId) : null;
    // Without a number, or with one before every id: from the first stored event, without a notice
    // about missing ones.
    if (last === null || last < -1) return oldestId;
    return Math.min(last + 1, this.#isEnded ? nextId - 1 : nextId);
  }
}

interface Followed {
  readonly stream: string;
  readonly cutter: LineCutter;
  readonly output: FollowedOutput;
}
