// Looks refs up in `packed-refs`, read again only when the file has changed.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

export class PackedRefs {
  readonly #file: string;
  #text = '';
  #version = '';

  constructor(commonDir: string) {
    this.#file = join(commonDir, 'packed-refs');
  }

  async find(ref: string): Promise<string | null> {
    await this.#refresh();
    const at = this.#text.indexOf(` ${ref}\n`);
    if (at === -1) return null;
    const lineStart = this.#text.lastIndexOf('\n', at) + 1;
    return this.#text.slice(lineStart, at);
  }

  async #refresh(): Promise<void> {
    let version = '';
    try {
      const facts = await stat(this.#file, { bigint: true });
      version = `${facts.ino}:${facts.size}:${facts.mtimeNs}`;
    } catch {
      this.#text = '';
      this.#version = '';
      return;
    }
    if (version === this.#version) return;
    this.#text = await readFile(this.#file, 'utf8').catch(() => '');
    this.#version = version;
  }
}
