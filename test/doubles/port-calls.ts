// Sits between the engine and its ports in the simulation: time passes, and the process may die, at
// any call.

export interface PortCalls {
  /**
   * Does the steps one after the other, each at once and whole, with time and possible death
   * before, between and after them. Resolves with the result of the last one; never if the process
   * has died.
   */
  run<T>(name: string, last: () => T, earlier?: readonly (() => void)[]): Promise<T>;
  /** Waits until the callback is called by the world; never resolves when the process has died. */
  wait<T>(begin: (done: (value: T) => void) => void): Promise<T>;
  isAlive(): boolean;
  /** Something threw that never should. */
  unexpected(error: unknown): void;
}

/** Every call is done at once. */
export const callsAtOnce: PortCalls = {
  run: async (_name, last, earlier = []) => {
    for (const step of earlier) step();
    return last();
  },
  wait: (begin) => new Promise((resolve) => begin(resolve)),
  isAlive: () => true,
  unexpected: (error) => {
    throw error;
  },
};
