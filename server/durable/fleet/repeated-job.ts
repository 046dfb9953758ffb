// A job that may be requested at any time and runs one at a time. A request during a run is handled
// by the next run.

import { AsyncLocalStorage } from 'node:async_hooks';

export class RepeatedJob {
  readonly #job: () => Promise<void>;
  readonly #onTrouble: (error: unknown) => void;
  /**
   * DBOS keeps the running workflow in the asynchronous context. A job requested by a body must not
   * belong to it.
   */
  readonly #outside = AsyncLocalStorage.snapshot();
  #again = false;
  #stopped = false;
  #running: Promise<void> | null = null;

  constructor(job: () => Promise<void>, onTrouble: (error: unknown) => void) {
    this.#job = job;
    this.#onTrouble = onTrouble;
  }

  /** Resolves when a run that started after this call has ended. Never rejects. */
  ask(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#again = true;
    this.#running ??= this.#outside(() => this.#runAll());
    return this.#running;
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Starts no further runs. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #runAll(): Promise<void> {
    // Ensures that `#running` is set before the first run, even if that acts synchronously.
    await Promise.resolve();
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        await this.#job();
      } catch (error) {
        this.#onTrouble(error);
      }
    }
    this.#running = null;
  }
}
