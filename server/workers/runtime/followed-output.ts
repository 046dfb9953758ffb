// Reads one output of a command until its end, or until the job is over although another process
// holds it open.

import type { Socket } from 'node:net';

/** Takes a chunk; a promise if it must wait for readers before it takes more. */
export type TakeChunk = (chunk: Buffer) => Promise<void> | undefined;

/** A pipe holds no more than this, unless its owner is root. */
const pipeBytesMax = 1024 * 1024;
/** Reads the pipe once per turn of the event loop. */
const idleTurns = 3;

export class FollowedOutput {
  /** Everything up to the end is taken. */
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
   * Takes the current content of the pipe and reads no further, even if other processes continue to
   * write.
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
