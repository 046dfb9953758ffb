// Code that both halves of the network gate share.

import { pipeline, type Duplex } from 'node:stream';

/** Name under which the inner half requests the proxy. */
export const proxyAuthority = 'proxy:1';

/** Data that one side has sent is delivered before the other ends. An error ends both. */
export function joined(one: Duplex, other: Duplex): void {
  const end = (error: unknown): void => {
    if (!error) return;
    one.destroy();
    other.destroy();
  };
  pipeline(one, other, end);
  pipeline(other, one, end);
}
