// Detects an agent that repeats itself: the same tool call, or a short sequence of calls, with the
// same input.

import { fnv1a } from '../fnv1a.ts';

/** Maximum number of calls in a sequence. */
export const loopPeriodMax = 4;

export interface FoundLoop {
  /** Names of the calls in one repetition. */
  readonly names: readonly string[];
  readonly rounds: number;
}

interface Call {
  readonly name: string;
  readonly mark: string;
}

export class LoopDetector {
  #repeats: number;
  #calls: Call[] = [];

  /** `repeats`: this many equal repetitions count as a loop; 0 = never. */
  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  take(name: string, input: unknown): FoundLoop | null {
    if (this.#repeats === 0) return null;
    this.#calls.push({ name, mark: markOf(name, input) });
    const kept = this.#repeats * loopPeriodMax;
    if (this.#calls.length > kept) this.#calls = this.#calls.slice(-kept);
    for (let period = 1; period <= loopPeriodMax; period += 1) {
      if (!this.#isPeriodic(period)) continue;
      const names = this.#calls.slice(-period).map((call) => call.name);
      return { names, rounds: this.#repeats };
    }
    return null;
  }

  /**
   * Called when a person lets the agent continue. The next question needs twice as many
   * repetitions.
   */
  allow(): void {
    this.#calls = [];
    this.#repeats = Math.min(this.#repeats * 2, repeatsMax);
  }

  #isPeriodic(period: number): boolean {
    const wanted = period * this.#repeats;
    const calls = this.#calls;
    if (calls.length < wanted) return false;
    for (let at = calls.length - wanted + period; at < calls.length; at += 1) {
      if (calls[at]?.mark !== calls[at - period]?.mark) return false;
    }
    return true;
  }
}

const repeatsMax = 10_000;

/** Hashes the input to two numbers, because inputs can be as large as files. */
function markOf(name: string, input: unknown): string {
  const text = JSON.stringify(input) ?? '';
  let second = 0;
  for (let at = 0; at < text.length; at += 1) {
    second = (Math.imul(second, 31) + text.charCodeAt(at)) | 0;
  }
  return `${name}\n${text.length}\n${fnv1a(text)}\n${second}`;
}

export function loopQuestion(found: FoundLoop, name: string): string {
  const what =
    found.names.length === 1
      ? `the same call of ${found.names[0] ?? 'a tool'}`
      : `the same round of calls (${found.names.join(', ')})`;
  return `The agent of ${name} has made ${what} ${found.rounds} times in a row with the same input. Let it continue, or stop it?`;
}

export function loopStopSentence(found: FoundLoop, name: string): string {
  return (
    `The agent of ${name} was stuck in a loop (${found.names.join(', ')}, ${found.rounds} times), and a person ` +
    `stopped it; its work so far is kept; to guide it, use "drover hint ${name} <text>", then "drover retry ${name}"`
  );
}
