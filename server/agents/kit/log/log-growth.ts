// Readers that wait for a log to grow are notified by its writer, which is in the same process: no
// polling.

const listeners = new Map<string, Set<() => void>>();
const listenersToAll = new Set<(path: string) => void>();

/** Called after each frame that was written to the log at the path; returns unsubscribe. */
export function onLogGrowth(path: string, listener: () => void): () => void {
  const present = listeners.get(path) ?? new Set();
  listeners.set(path, present.add(listener));
  return () => {
    present.delete(listener);
    if (present.size === 0 && listeners.get(path) === present) listeners.delete(path);
  };
}

/** The same for every log; returns unsubscribe. */
export function onAnyLogGrowth(listener: (path: string) => void): () => void {
  listenersToAll.add(listener);
  return () => listenersToAll.delete(listener);
}

export function tellLogGrowth(path: string): void {
  for (const listener of listenersToAll) listener(path);
  tellCopyGrowth(path);
}

/** The file is a copy of a log that another machine writes: only its reader notices growth. */
export function tellCopyGrowth(path: string): void {
  for (const listener of listeners.get(path) ?? []) listener();
}
