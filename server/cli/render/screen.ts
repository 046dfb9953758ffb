// A part of the terminal that is redrawn in place, at most ten times a second.

import { createLogUpdate } from 'log-update';
import { Writable } from 'node:stream';
import type { Output } from '../surroundings.ts';

export interface Screen {
  draw(text: string): void;
  /** Leaves the last drawing in place; later output follows below it. */
  done(): void;
}

export function createScreen(output: Output): Screen {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      output.write(String(chunk));
      done();
    },
  });
  Object.defineProperties(stream, {
    isTTY: { value: output.isTTY },
    columns: { get: () => output.columns },
    rows: { get: () => output.rows },
  });
  const update = createLogUpdate(stream as unknown as NodeJS.WritableStream);
  return {
    draw: (text) => update(text),
    done: () => update.done(),
  };
}
