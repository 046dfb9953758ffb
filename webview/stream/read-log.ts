// Asks the backend for a page of a log, and waits between asking.

import type { Host } from '../shared/host.ts';
import type { LogReadParams, LogReadResult } from './log-feed.ts';

export function readLog(host: Host, params: LogReadParams): Promise<LogReadResult> {
  return host.backend('log.read', params);
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
