// Collects the parts of an archive for the compression.

export const chunkBytes = 64 * 1024;

/**
 * Headers, contents and padding arrive one by one, and each would be a separate call of the
 * compression.
 */
export async function* gathered(parts: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const part of parts) {
    waiting.push(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes < chunkBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  yield Buffer.concat(waiting);
}
