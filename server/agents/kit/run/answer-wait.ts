// How long a person was being asked: that time is not the agent's.

export class AnswerWait {
  #open = 0;
  #waitedMs = 0;
  #since: number | null = null;

  /** How many questions are open. */
  get open(): number {
    return this.#open;
  }

  /** How long at least one question was open. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#since === null ? 0 : Date.now() - this.#since);
  }

  begin(): void {
    this.#open += 1;
    this.#since ??= Date.now();
  }

  end(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#waitedMs = this.waitedMs;
    this.#since = null;
  }
}
