// Who may go next: a semaphore for processes, a mutex for each key, and bounded mapping.

/**
 * Lets at most `limit` bodies run at once, in the order in which they asked; urgent ones before all
 * others.
 */
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

/** One body at a time for each key; an unused key costs nothing. */
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

  /** Does nothing while another caller has the turn or waits for it. */
  async runIfFree(key: string, body: () => Promise<void>): Promise<void> {
    if (!this.#tails.has(key)) await this.run(key, body);
  }
}
