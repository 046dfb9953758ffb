// Problems of a worker are in the backend's log. A worker in the foreground also prints them, at
// limited intervals.

import type { WorkerNote } from '../protocol/worker-notes.ts';

type Report = (error: unknown, where: string) => void;

const sameAgainMs = 60_000;
/** Maximum number of different problems remembered. The log contains all of them. */
const troublesMax = 100;

export function tellTroubles(
  log: Report,
  tell: (note: WorkerNote) => void,
  options: { readonly mask: (text: string) => string; readonly nowMs: () => number },
): Report {
  const told = new Map<string, number>();
  return (error, where) => {
    log(error, where);
    const nowMs = options.nowMs();
    const message = options.mask(messageOf(error)).replace(/\s+/gu, ' ').trim().slice(0, 500);
    const name = `${where}: ${message}`;
    const last = told.get(name);
    if (last !== undefined && nowMs - last < sameAgainMs) return;
    for (const [old, atMs] of told) if (nowMs - atMs >= sameAgainMs) told.delete(old);
    if (told.size >= troublesMax) return;
    told.set(name, nowMs);
    tell({ type: 'trouble', at_ms: nowMs, where, message });
  };
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error === 'object' && error !== null && 'message' in error) {
    if (typeof error.message === 'string') return error.message;
  }
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
}
