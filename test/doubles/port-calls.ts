// Sits between the engine and its ports in the simulation: at any call, time passes and the process
// may die.

export interface PortCalls {
  /**
   * Runs the steps in sequence, each at once and atomically, with time and a possible crash before,
   * between and after them. Resolves with the result of the last step, but never if the process has
   * died.
   */
  run<T>(name: string, last: () => T, earlier?: readonly (() => void)[]): Promise<T>;
  /** Waits until the world calls the callback; never resolves if the process has died. */
  wait<T>(begin: (done: (value: T) => void) => void): Promise<T>;
  isAlive(): boolean;
  /** Something threw that must never throw. */
  unexpected(error: unknown): void;
}

/** Every call completes at once. */
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
