// Runs whose processes must be stopped, with the number of callers that need that. They resume when
// no caller is left.

interface HeldRun {
  /** The number of callers. */
  holds: number;
  /** One caller is the engine, which does not know the owner of the run. */
  stands: boolean;
  /** When the engine last held it, by `performance.now()`. */
  stoodUntilMs: number;
}

export class HeldRuns {
  readonly #runs = new Map<string, HeldRun>();

  hold(runId: string): void {
    this.#of(runId).holds += 1;
  }

  /** Returns whether the run may resume. */
  release(runId: string): boolean {
    const run = this.#of(runId);
    run.holds = Math.max(0, run.holds - 1);
    return run.holds === 0;
  }

  /** Adds the engine's own hold. */
  stand(runId: string): void {
    this.#of(runId).stands = true;
  }

  stands(runId: string): boolean {
    return this.#runs.get(runId)?.stands === true;
  }

  /** Ends the engine's hold. Returns whether the run may resume; false if it was not stopped. */
  goOn(runId: string): boolean {
    if (!this.stands(runId)) return false;
    const run = this.#of(runId);
    run.stands = false;
    run.stoodUntilMs = performance.now();
    return this.release(runId);
  }

  lastStoodMs(runId: string): number {
    return this.stands(runId) ? performance.now() : (this.#runs.get(runId)?.stoodUntilMs ?? 0);
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  #of(runId: string): HeldRun {
    const run = this.#runs.get(runId) ?? { holds: 0, stands: false, stoodUntilMs: 0 };
    this.#runs.set(runId, run);
    return run;
  }
}
