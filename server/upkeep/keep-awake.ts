// Keeps the machine awake while agents or gates run, with a program of the system that ends with
// this process.

import { type ChildProcess, spawn } from 'node:child_process';
import type { ProgramStart } from '../platform/port.ts';

export interface KeepAwakeOptions {
  readonly start: ProgramStart;
  readonly isNeeded: () => boolean;
}

const lookEveryMs = 1_000;
/** Between two attempts, no work runs for a short time. */
const releaseAfterLooks = 10;
/** A missing or failing program is not tried again at each check. */
const retryAfterMs = 10 * 60_000;

export class KeepAwake {
  readonly #options: KeepAwakeOptions;
  readonly #timer: NodeJS.Timeout;
  #holder: ChildProcess | null = null;
  #restLooks = 0;
  #retryAtMs = 0;

  constructor(options: KeepAwakeOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#release();
  }

  #look(): void {
    this.#restLooks = this.#options.isNeeded() ? 0 : this.#restLooks + 1;
    if (this.#restLooks > releaseAfterLooks) this.#release();
    const isMissing = this.#restLooks === 0 && this.#holder === null;
    if (isMissing && performance.now() >= this.#retryAtMs) this.#hold();
  }

  #hold(): void {
    const { program, args } = this.#options.start;
    const child = spawn(program, [...args], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', () => this.#ended(child));
    child.on('exit', () => this.#ended(child));
    child.stdin.on('error', () => {});
    this.#holder = child;
  }

  #ended(child: ChildProcess): void {
    if (this.#holder !== child) return;
    this.#holder = null;
    this.#retryAtMs = performance.now() + retryAfterMs;
  }

  #release(): void {
    this.#holder?.stdin?.end();
    this.#holder = null;
  }
}
