// The external dependencies of a fleet's durable engine, and its additions to the port.

import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import type { Clock, Durable, QueueLimits } from '../port.ts';
import type { FleetTables } from './tables.ts';

export interface FleetOptions {
  /**
   * Connected to a database prepared by `prepareFleetDatabase`. Shared with DBOS, which uses a few
   * connections.
   */
  readonly pool: Pool;
  /** On that pool, for the adapter's own queries and writes. */
  readonly db: Kysely<FleetTables>;
  /**
   * The same database as the bodies of workflows use it: `commit` and `record` write in its
   * transactions.
   */
  readonly bodiesDb: Kysely<never>;
  readonly clock: Clock;
  /**
   * Identifies this process; `processIdentity()` outside of tests. Never reused, because two
   * processes with one id would share claims.
   */
  readonly executorId: string;
  /**
   * Returns false only if that process has certainly ended, so that it is taken over at once. If in
   * doubt, its heartbeat decides.
   */
  readonly isExecutorAlive: (executorId: string) => boolean;
  /**
   * Our compatibility number. A process only runs workflows that were started with the same one.
   */
  readonly applicationVersion: string;
  /**
   * Limits of queues that this process has not set. Every process must know them, including those
   * of other processes' queues. `perProcess: 0` leaves a queue to others.
   */
  readonly limitsOf?: ((queue: string) => QueueLimits | undefined) | undefined;
  /** How long after its last heartbeat a process's work is taken over. */
  readonly takeOverAfterMs: number;
  /**
   * Called when the heartbeat could not be written for that long, so the connections are broken,
   * and again after each such period.
   */
  readonly onExpired?: (() => void) | undefined;
  /**
   * For crash tests: called when a step or commit has been stored, before its result is returned.
   */
  readonly crashPoint?: ((workflowId: string, stepName: string) => void) | undefined;
  /** Called with database errors outside of a caller's request. The adapter retries by itself. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

export interface FleetDurable<Tx> extends Durable<Tx> {
  /**
   * Deletes the steps of workflows that succeeded longer ago than this, in small batches. Resolves
   * with their number.
   */
  forget(olderThanMs: number): Promise<number>;
}
