// Requests a page of a log from the backend, and waits between requests.

import type { Host } from '../host.ts';
import type { Requests } from '../../../server/protocol/api.ts';
import type { LogPageView } from '../../../server/protocol/views.ts';

export function readLog(host: Host, params: LogReadParams): Promise<LogReadResult> {
  return host.backend('log.read', params);
}

export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * The answer, or a failure if it does not arrive in time or a signal ends the wait: VS Code
 * silently drops messages to a hidden webview, and a lost answer must not end a stream.
 */
export function inTime<T>(
  answer: Promise<T>,
  ms: number,
  sleepFor: Sleep,
  ...signals: readonly AbortSignal[]
): Promise<T> {
  const done = new AbortController();
  const late = sleepFor(ms, AbortSignal.any([done.signal, ...signals])).then((): never => {
    throw new Error('The backend does not answer.');
  });
  return Promise.race([answer, late]).finally(() => done.abort());
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

export type LogReadParams = Requests['log.read']['params'];

export type LogReadResult = LogPageView;
