// Encodes and decodes messages of the IDE bridge: `Content-Length` frames with a maximum size and
// recovery after stray text. Our own code, because the reader of vscode-jsonrpc neither limits a
// frame nor recovers after stray text.

export const frameBytesMax = 32 * 1024 * 1024;
const strayBytesMax = 64 * 1024;
const lengthHeader = 'Content-Length:';

export type FrameEvent =
  | { readonly kind: 'message'; readonly body: string }
  /** Text that does not belong to any frame. */
  | { readonly kind: 'stray'; readonly text: string }
  /** The stream cannot be read any more, so the process must be stopped. */
  | {
      readonly kind: 'failed';
      readonly why: 'frame-too-large' | 'incompatible';
      readonly message: string;
    };

/** Returns null if the message is larger than either side accepts. */
export function encodeFrame(message: unknown): Buffer | null {
  const body = Buffer.from(JSON.stringify(message));
  if (body.length > frameBytesMax) return null;
  return Buffer.concat([Buffer.from(`${lengthHeader} ${body.length}\r\n\r\n`), body]);
}

export class FrameReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** How many bytes must be available before parsing is worthwhile. */
  #wantedBytes = 1;
  #bodyBytes: number | null = null;
  #hasFailed = false;

  push(chunk: Buffer): readonly FrameEvent[] {
    if (this.#hasFailed) return [];
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wantedBytes) return [];
    const events: FrameEvent[] = [];
    let rest: Buffer = Buffer.concat(this.#parts);
    for (;;) {
      const left = this.#takeOne(rest, events);
      if (left === null) break;
      rest = left;
    }
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#wantedBytes = this.#bodyBytes ?? 1;
    return events;
  }

  /**
   * Returns the rest after one frame or one piece of stray text, or null if more bytes are needed.
   */
  #takeOne(bytes: Buffer, events: FrameEvent[]): Buffer | null {
    if (this.#hasFailed) return null;
    if (this.#bodyBytes !== null) {
      if (bytes.length < this.#bodyBytes) return null;
      events.push({ kind: 'message', body: bytes.toString('utf8', 0, this.#bodyBytes) });
      const rest = bytes.subarray(this.#bodyBytes);
      this.#bodyBytes = null;
      return rest;
    }
    const header = findHeader(bytes);
    switch (header.kind) {
      case 'incomplete':
        if (bytes.length > strayBytesMax) this.#fail(events, 'incompatible', noFrameMessage);
        return null;
      case 'stray':
        events.push({ kind: 'stray', text: bytes.toString('utf8', 0, header.bytes) });
        return bytes.subarray(header.bytes);
      case 'header':
        if (header.length > frameBytesMax) {
          this.#fail(events, 'frame-too-large', tooLargeMessage(header.length));
          return null;
        }
        if (header.unknown !== '') events.push({ kind: 'stray', text: header.unknown });
        this.#bodyBytes = header.length;
        return bytes.subarray(header.end);
    }
  }

  #fail(events: FrameEvent[], why: 'frame-too-large' | 'incompatible', message: string): void {
    this.#hasFailed = true;
    this.#parts = [];
    events.push({ kind: 'failed', why, message });
  }
}

const noFrameMessage = `Drover Code's bridge sent ${strayBytesMax / 1024} KiB without a frame.`;

function tooLargeMessage(length: number): string {
  return `Drover Code's bridge announced a frame of ${length} bytes; the limit is ${frameBytesMax}.`;
}

type Header =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'stray'; readonly bytes: number }
  | {
      readonly kind: 'header';
      readonly length: number;
      readonly end: number;
      /** Lines that look like headers but may be output of the program. */
      readonly unknown: string;
    };

/**
 * Lines up to an empty one, ended by CR LF or LF. Unknown headers may precede and follow the
 * length.
 */
function findHeader(bytes: Buffer): Header {
  let length: number | null = null;
  let unknown = '';
  for (let start = 0; ;) {
    const lineEnd = bytes.indexOf(0x0a, start);
    const end = lineEnd < 0 ? bytes.length : lineEnd;
    const line = bytes.toString('latin1', start, end).replace(/\r$/, '');
    // Text without a line end may precede the header.
    const inside = line.indexOf(lengthHeader);
    if (inside > 0) return { kind: 'stray', bytes: start + inside };
    if (lineEnd < 0) return { kind: 'incomplete' };
    if (line === '') {
      if (length !== null) return { kind: 'header', length, end: lineEnd + 1, unknown };
      return { kind: 'stray', bytes: lineEnd + 1 };
    }
    if (inside === 0) {
      const digits = line.slice(lengthHeader.length).trim();
      if (!/^\d+$/.test(digits)) return { kind: 'stray', bytes: lineEnd + 1 };
      length = Number(digits);
    } else if (!/^[A-Za-z-]+:/.test(line)) {
      return { kind: 'stray', bytes: lineEnd + 1 };
    } else if (!line.startsWith('Content-')) {
      unknown += `${line}\n`;
    }
    start = lineEnd + 1;
  }
}
