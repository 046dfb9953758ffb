// Masks secrets in a stream of bytes that arrives in pieces, including values that are split
// between two pieces.

import { StringDecoder } from 'node:string_decoder';
import { createMask, type Mask } from './masking.ts';
import { writtenForms } from '../../secrets/known-secrets.ts';
import { keyLengthMax } from '../../secrets/published-formats.ts';

export class MaskedStream {
  readonly #mask: Mask;
  /** Characters held back because they may be the start of a secret. */
  readonly #heldMax: number;
  readonly #give: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #held = '';

  constructor(secrets: readonly string[], give: (text: string) => void) {
    this.#mask = createMask(secrets);
    this.#heldMax = Math.max(
      keyLengthMax,
      ...secrets.flatMap(writtenForms).map(({ length }) => length),
    );
    this.#give = give;
  }

  add(chunk: Buffer): void {
    const text = this.#mask(this.#held + this.#decoder.write(chunk));
    const end = Math.max(0, text.length - this.#heldMax);
    this.#held = text.slice(end);
    if (end > 0) this.#give(text.slice(0, end));
  }

  end(): void {
    const text = this.#mask(this.#held + this.#decoder.end());
    this.#held = '';
    if (text !== '') this.#give(text);
  }
}
