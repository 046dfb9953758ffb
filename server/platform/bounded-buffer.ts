// Collects a program's output up to a limit.

export class BoundedBuffer {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns false if the chunk did not fit completely. */
  add(chunk: Buffer): boolean {
    const room = this.#limit - this.#length;
    const part = chunk.length <= room ? chunk : chunk.subarray(0, room);
    if (part.length > 0) this.#chunks.push(part);
    this.#length += part.length;
    return part.length === chunk.length;
  }

  bytes(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks, this.#length);
  }
}
