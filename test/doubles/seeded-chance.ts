// Pseudo-random numbers that are identical for the same seed, in independent streams.

export class SeededChance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Between 0 and 1, excluding 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Both ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  percent(share: number): boolean {
    return this.next() * 100 < share;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('nothing to pick from');
    return list[this.below(list.length)] as T;
  }

  /** Picks a key by its weight. */
  weighted<K extends string>(weights: { readonly [key in K]: number }): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }

  /** A separate stream: drawing from it does not affect this one. */
  fork(label: string): SeededChance {
    let hash = this.#state ^ 0x9e3779b9;
    for (let at = 0; at < label.length; at += 1) {
      hash = Math.imul(hash ^ label.charCodeAt(at), 0x01000193);
      hash ^= hash >>> 15;
    }
    return new SeededChance(hash);
  }
}
