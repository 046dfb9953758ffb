// The place in which a machine's id was last used. A copy of its folder or of its whole disk has
// the same id but a different place.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** On Linux, a new value at each system start, so that a copied disk has a different one. */
const bootFile = '/proc/sys/kernel/random/boot_id';

export class MachinePlace {
  readonly #file: string;
  readonly #present: string;

  /** `folder`: the project's `.drover`, which contains the id. */
  constructor(folder: string) {
    this.#file = join(folder, 'machine-place');
    this.#present = placeOf(join(folder, 'machine'));
  }

  /** Also returns false after a restart of the system. */
  isNoted(): boolean {
    return existsSync(this.#file) && readFileSync(this.#file, 'utf8').trim() === this.#present;
  }

  note(): void {
    if (!this.isNoted()) writeFileSync(this.#file, `${this.#present}\n`, { mode: 0o600 });
  }
}

function placeOf(file: string): string {
  const boot = existsSync(bootFile) ? readFileSync(bootFile, 'utf8').trim() : hostname();
  if (!existsSync(file)) return boot;
  const { dev, ino } = statSync(file, { bigint: true });
  return `${boot} ${dev}:${ino}`;
}
