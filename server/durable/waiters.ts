// Callers that wait for the end of a workflow.

import type { WorkflowInfo } from './port.ts';

interface Waiter {
  resolve(info: WorkflowInfo): void;
  reject(error: Error): void;
}

export class Waiters {
  readonly #byId = new Map<string, Set<Waiter>>();

  get ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /**
   * Waits unless the check finds that it has ended. `onWaiting` is called when a caller starts to
   * wait. The waiter is registered before the check, so that no end in between is missed.
   */
  async wait(
    id: string,
    look: () => Promise<WorkflowInfo | null>,
    onWaiting: () => void,
  ): Promise<WorkflowInfo> {
    const { ended, giveUp } = this.#add(id);
    ended.catch(() => undefined); // It may reject before it is awaited below.
    const info = await look().catch((error: unknown) => {
      giveUp();
      throw error;
    });
    if (info === null || isEnded(info)) giveUp();
    if (info === null) throw new Error(`workflow ${id} does not exist`);
    if (isEnded(info)) return info;
    onWaiting();
    return await ended;
  }

  /** The promise, and a function that stops waiting. */
  #add(id: string): { readonly ended: Promise<WorkflowInfo>; readonly giveUp: () => void } {
    const waiting = this.#byId.get(id) ?? new Set<Waiter>();
    this.#byId.set(id, waiting);
    let waiter: Waiter | undefined;
    const ended = new Promise<WorkflowInfo>((resolve, reject) => {
      waiter = { resolve, reject };
      waiting.add(waiter);
    });
    const giveUp = (): void => {
      if (waiter !== undefined) waiting.delete(waiter);
      if (waiting.size === 0 && this.#byId.get(id) === waiting) this.#byId.delete(id);
    };
    return { ended, giveUp };
  }

  settle(info: WorkflowInfo): void {
    const waiting = this.#byId.get(info.id);
    this.#byId.delete(info.id);
    for (const waiter of waiting ?? []) waiter.resolve(info);
  }

  rejectAll(error: Error): void {
    const all = [...this.#byId.values()].flatMap((waiting) => [...waiting]);
    this.#byId.clear();
    for (const waiter of all) waiter.reject(error);
  }
}

export function isEnded({ state }: Pick<WorkflowInfo, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled';
}
