// Asks the backend for a page of a log, and waits between asking.

import type { Host } from '../shared/host.ts';
import type { LogReadParams, LogReadResult } from './log-feed.ts';

/** An older backend says nothing of places; then a page is where it was asked for. */
export async function readLog(host: Host, params: LogReadParams): Promise<LogReadResult> {
  const page: Omit<LogReadResult, 'offset' | 'size'> & Partial<LogReadResult> = await host.backend(
    'log.read',
    params,
  );
  return {
    ...page,
    offset: page.offset ?? params.offset ?? 0,
    size: page.size ?? page.next_offset,
  };
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
