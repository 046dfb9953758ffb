// The common part of both halves of the way out.

import { pipeline, type Duplex } from 'node:stream';

/** Name under which the inner half asks for the proxy. */
export const proxyAuthority = 'proxy:1';

/** Data that one side has sent is delivered before the other ends; an error ends both. */
export function joined(one: Duplex, other: Duplex): void {
  const end = (error: unknown): void => {
    if (!error) return;
    one.destroy();
    other.destroy();
  };
  pipeline(one, other, end);
  pipeline(other, one, end);
}
