// Reads one output of a command until its end, or until the job is over although another process
// holds it open.

import type { Socket } from 'node:net';

/** Handles a chunk. Returns a promise if it must wait for readers before it accepts more. */
export type TakeChunk = (chunk: Buffer) => Promise<void> | undefined;

/** The maximum capacity of a pipe, unless its owner is root. */
const pipeBytesMax = 1024 * 1024;
/** Number of turns of the event loop without data. */
const idleTurns = 3;

export class FollowedOutput {
  /** Resolves when everything up to the end was handled. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #take: TakeChunk;
  #busy: Promise<void> | null = null;
  #chunks = 0;
  #bytesLeft = Number.POSITIVE_INFINITY;

  constructor(socket: Socket, take: TakeChunk) {
    this.#socket = socket;
    this.#take = take;
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    // An error is followed by `close`.
    socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      socket.once('close', () => resolve(this.#busy ?? undefined));
    });
  }

  /**
   * Reads the current content of the pipe and no more, even if other processes continue to write.
   */
  async stop(): Promise<void> {
    this.#bytesLeft = pipeBytesMax;
    let seen = this.#chunks;
    for (let turn = 0; turn < idleTurns && this.#bytesLeft > 0; turn++) {
      await (this.#busy ?? new Promise((resolve) => setImmediate(resolve)));
      if (seen !== this.#chunks || this.#busy !== null) turn = 0;
      seen = this.#chunks;
    }
    this.#socket.destroy();
    await this.ended;
  }

  #onData(chunk: Buffer): void {
    this.#chunks += 1;
    this.#bytesLeft -= chunk.length;
    const waiting = this.#take(chunk);
    if (waiting === undefined) return;
    this.#socket.pause();
    this.#busy = waiting.then(() => {
      this.#busy = null;
      if (this.#bytesLeft > 0) this.#socket.resume();
    });
  }
}
