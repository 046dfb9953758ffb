// Measures how long a person was being asked, which does not count as the agent's time.

import type { AwakeTime } from '../../../platform/awake-clock.ts';

export class AnswerWait {
  readonly #nowMs: () => number;
  #open = 0;
  #waitedMs = 0;
  #since: number | null = null;

  constructor({ nowMs = () => performance.now() }: Partial<AwakeTime> = {}) {
    this.#nowMs = nowMs;
  }

  /** Number of open questions. */
  get open(): number {
    return this.#open;
  }

  /** How long at least one question was open. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#since === null ? 0 : this.#nowMs() - this.#since);
  }

  begin(): void {
    this.#open += 1;
    this.#since ??= this.#nowMs();
  }

  end(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#waitedMs = this.waitedMs;
    this.#since = null;
  }
}
