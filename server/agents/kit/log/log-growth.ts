// Readers that wait for a log to grow are notified by its writer in the same process, without
// polling.

const listeners = new Map<string, Set<() => void>>();
const listenersToAll = new Set<(path: string) => void>();

/**
 * Called after each frame that was written to the log at the path. Returns a function that
 * unsubscribes.
 */
export function onLogGrowth(path: string, listener: () => void): () => void {
  const present = listeners.get(path) ?? new Set();
  listeners.set(path, present.add(listener));
  return () => {
    present.delete(listener);
    if (present.size === 0 && listeners.get(path) === present) listeners.delete(path);
  };
}

/** Like `onLogGrowth`, for all logs. Returns a function that unsubscribes. */
export function onAnyLogGrowth(listener: (path: string) => void): () => void {
  listenersToAll.add(listener);
  return () => listenersToAll.delete(listener);
}

export function tellLogGrowth(path: string): void {
  for (const listener of listenersToAll) listener(path);
  tellCopyGrowth(path);
}

/**
 * Reports that a copy of a log on another machine has grown. Only the reader of the copy notices
 * this.
 */
export function tellCopyGrowth(path: string): void {
  for (const listener of listeners.get(path) ?? []) listener();
}
