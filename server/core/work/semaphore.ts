// Coordinates asynchronous callers: a semaphore, a mutex per key, and bounded mapping.

/** Runs at most `limit` bodies at once, in the order of their calls. Urgent bodies go first. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  readonly #urgent: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  async run<T>(body: () => Promise<T>, isUrgent = false): Promise<T> {
    if (this.#running >= this.#limit) {
      const line = isUrgent ? this.#urgent : this.#waiting;
      await new Promise<void>((resolve) => line.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await body();
    } finally {
      // The slot passes directly to the next waiter, so that no later caller can overtake it.
      const next = this.#urgent.shift() ?? this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

/** Runs one body at a time per key. An unused key uses no memory. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  async run<T>(key: string, body: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(body);
    const tail = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /** Does nothing if another caller has or waits for the key. */
  async runIfFree(key: string, body: () => Promise<void>): Promise<void> {
    if (!this.#tails.has(key)) await this.run(key, body);
  }
}
