// The conformance suite's requirements of an adapter, in this process and in a child of it.

import type { Clock, Durable } from '../../server/durable/port.ts';

export interface OpenTestStore<Tx> {
  readonly durable: Durable<Tx>;
  /** Writes a row of a table of the user's, which the adapter knows nothing of. */
  addNote(tx: Tx, text: string): Promise<void>;
  notes(): Promise<readonly string[]>;
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Closes the adapter, then the store. */
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  /** The real clock unless given. */
  readonly clock?: Clock;
  readonly leaseMs?: number;
  /** Called when a step has been stored, before its result is given out. */
  readonly crashPoint?: (workflowId: string, stepName: string) => void;
}

export interface DurableHarness<Tx> {
  /** The name under which the child program finds the adapter. */
  readonly adapter: string;
  /** Whether the adapter's timers can be driven by a clock of the test's. */
  readonly takesClock: boolean;
  /** Makes an empty store in a folder; the answer can be opened by any process. */
  createStore(folder: string): Promise<string>;
  dropStore(location: string): Promise<void>;
  open(location: string, options?: OpenStoreOptions): Promise<OpenTestStore<Tx>>;
}
