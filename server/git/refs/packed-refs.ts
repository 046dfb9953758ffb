// Reads refs from `packed-refs`, and reads the file again only when it has changed.

import { join } from 'node:path';
import { lstatOrNull, readText } from '../../files/small-files.ts';

export class PackedRefs {
  readonly #file: string;
  #text = '';
  #version = '';

  constructor(commonDir: string) {
    this.#file = join(commonDir, 'packed-refs');
  }

  find(ref: string): string | null {
    this.#refresh();
    const at = this.#text.indexOf(` ${ref}\n`);
    if (at === -1) return null;
    const lineStart = this.#text.lastIndexOf('\n', at) + 1;
    return this.#text.slice(lineStart, at);
  }

  #refresh(): void {
    const facts = lstatOrNull(this.#file);
    const version = facts === null ? '' : `${facts.ino}:${facts.size}:${facts.mtimeMs}`;
    if (version === this.#version) return;
    this.#text = readText(this.#file) ?? '';
    this.#version = version;
  }
}
