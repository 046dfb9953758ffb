// A panel's measurements of itself, for the extension's log and benches.

import type { Host } from './host.ts';

/** If `sinceMs` is 0, it is the start of the page. */
export function tellTime(host: Host | null, name: string, sinceMs = 0): void {
  const ms = performance.now() - sinceMs;
  host?.action('measured', { name, ms }).catch(() => {
    // A measurement without a listener may be lost.
  });
}
