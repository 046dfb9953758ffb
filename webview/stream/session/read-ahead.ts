// The end of a stream's log, requested while the page still waits for the extension to name its
// subject.

import type { Host } from '../../shared/host.ts';
import { endOfLog, openEvents } from '../../shared/log/log-feed.ts';
import { readLog, type LogReadResult } from '../../shared/log/read-log.ts';

export interface LogAhead {
  readonly id: string;
  /** 0: the last one there is. */
  readonly attempt: number;
  readonly answer: Promise<LogReadResult>;
}

/**
 * Returns null if the page does not know which task it was opened for. `chosen`: the attempt that
 * the user selected here before.
 */
export function readAhead(host: Host, chosen: number | null): LogAhead | null {
  const { id, attempt: opened } = host.subject ?? { id: null, attempt: null };
  if (id === null) return null;
  const attempt = chosen ?? opened ?? 0;
  const which = attempt > 0 ? { attempt } : {};
  const answer = readLog(host, { id, ...which, before: endOfLog, limit: openEvents });
  // The feed itself retries an unavailable backend and reports it.
  answer.catch(() => undefined);
  return { id, attempt, answer };
}
