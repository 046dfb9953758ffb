// Creates the durable engine of a backend, on either database.

import type { Durable } from '../durable/port.ts';
import type { Tx } from '../store/port.ts';

export interface HostDurable {
  readonly durable: Durable<Tx> & { forget(olderThanMs: number): Promise<number> };
  close(): Promise<void>;
}
