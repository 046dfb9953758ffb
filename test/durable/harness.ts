// What the conformance suite requires of an adapter, in this process and in a child process.

import type { Clock, Durable } from '../../server/durable/port.ts';

export interface OpenTestStore<Tx> {
  readonly durable: Durable<Tx>;
  /** Writes a row in a user's table, which the adapter does not know. */
  addNote(tx: Tx, text: string): Promise<void>;
  notes(): Promise<readonly string[]>;
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Closes the adapter, then the store. */
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  /** The real clock by default. */
  readonly clock?: Clock;
  readonly leaseMs?: number;
  /** Called when a step has been stored, before its result is returned. */
  readonly crashPoint?: (workflowId: string, stepName: string) => void;
}

export interface DurableHarness<Tx> {
  /** The name by which the child program finds the adapter. */
  readonly adapter: string;
  /** Whether a test clock can drive the adapter's timers. */
  readonly takesClock: boolean;
  /** Creates an empty store in a folder; any process can open the result. */
  createStore(folder: string): Promise<string>;
  dropStore(location: string): Promise<void>;
  open(location: string, options?: OpenStoreOptions): Promise<OpenTestStore<Tx>>;
}
