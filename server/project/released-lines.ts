// Branches on which this machine does not land for a while, because a person made it release them
// to another machine.

const releasedMs = 5 * 60_000;

export class ReleasedLines {
  /** By branch, on the monotonic clock. */
  readonly #untilMs = new Map<string, number>();

  add(branch: string): void {
    this.#untilMs.set(branch, performance.now() + releasedMs);
  }

  has(branch: string): boolean {
    return (this.#untilMs.get(branch) ?? 0) > performance.now();
  }

  get isEmpty(): boolean {
    return this.#untilMs.size === 0;
  }

  clear(): void {
    this.#untilMs.clear();
  }
}
