// Guards the message reader: passes on whole messages and ends the stream if a header is invalid or
// announces a body above the limit. The reader itself would buffer without limit.

import { Transform, type TransformCallback } from 'node:stream';

const headerBytesMax = 4096;
const headerEnd = '\r\n\r\n';

export class MessageSizeGuard extends Transform {
  #bodyBytesMax: number;
  #header = '';
  #bodyBytesLeft = 0;

  constructor(bodyBytesMax: number) {
    super();
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** Raises the limit after the other end has presented its token. */
  allow(bodyBytesMax: number): void {
    this.#bodyBytesMax = bodyBytesMax;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const fault = this.#inspect(chunk);
    if (fault === null) done(null, chunk);
    else done(new Error(fault));
  }

  #inspect(chunk: Buffer): string | null {
    let at = 0;
    while (at < chunk.length) {
      if (this.#bodyBytesLeft > 0) {
        const taken = Math.min(this.#bodyBytesLeft, chunk.length - at);
        this.#bodyBytesLeft -= taken;
        at += taken;
        continue;
      }
      const before = this.#header.length;
      this.#header += chunk.toString('latin1', at, at + headerBytesMax);
      const end = this.#header.indexOf(headerEnd);
      if (end === -1) {
        if (this.#header.length >= headerBytesMax) return 'a message header is too long';
        return null;
      }
      at += end + headerEnd.length - before;
      const length = contentLengthOf(this.#header.slice(0, end));
      this.#header = '';
      if (length === null) return 'a message header is not understood';
      if (length > this.#bodyBytesMax) return `a message of ${length} bytes is too large`;
      this.#bodyBytesLeft = length;
    }
    return null;
  }
}

/**
 * Requires exactly one Content-Length with digits only. Other headers must at least look like
 * headers.
 */
function contentLengthOf(header: string): number | null {
  let length: number | null = null;
  for (const line of header.split('\r\n')) {
    const match = /^([A-Za-z-]+): *([\x20-\x7e]*)$/u.exec(line);
    if (match === null) return null;
    if (match[1]?.toLowerCase() !== 'content-length') continue;
    if (length !== null || !/^\d{1,12}$/u.test(match[2] ?? '')) return null;
    length = Number(match[2]);
  }
  return length;
}
