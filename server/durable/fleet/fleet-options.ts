// The outside dependencies of a fleet's durable engine, and its additions to the port.

import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import type { Clock, Durable, QueueLimits } from '../port.ts';
import type { FleetTables } from './tables.ts';

export interface FleetOptions {
  /**
   * Connected to a database prepared by `prepareFleetDatabase`. Shared with DBOS, which takes a few
   * connections of it.
   */
  readonly pool: Pool;
  /** On that pool, for the adapter's own queries and writes. */
  readonly db: Kysely<FleetTables>;
  /**
   * The same database as bodies see it: `commit` and `record` write in transactions of this one.
   */
  readonly bodiesDb: Kysely<never>;
  readonly clock: Clock;
  /**
   * Names this process; `processIdentity()` outside tests. Never used twice: two with one name
   * would share claims.
   */
  readonly executorId: string;
  /**
   * False only if that process has certainly ended: then it is taken over immediately. If in doubt,
   * its heartbeat decides.
   */
  readonly isExecutorAlive: (executorId: string) => boolean;
  /** Our compatibility number: a process runs only workflows that were started under the same. */
  readonly applicationVersion: string;
  /**
   * Limits of queues that this process has not set itself: every process has to know them, also of
   * queues that others make. `perProcess: 0` leaves a queue to others.
   */
  readonly limitsOf?: ((queue: string) => QueueLimits | undefined) | undefined;
  /** How long after its last heartbeat the work of a process is taken over. */
  readonly takeOverAfterMs: number;
  /**
   * The heartbeat could not be written for that long, so the connections are broken. Called again
   * after each such time.
   */
  readonly onExpired?: (() => void) | undefined;
  /**
   * For crash tests: called when a step or commit has been stored, before its result is given out.
   */
  readonly crashPoint?: ((workflowId: string, stepName: string) => void) | undefined;
  /**
   * Called with database errors that happen outside a caller's request. The adapter retries on its
   * own.
   */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

export interface FleetDurable<Tx> extends Durable<Tx> {
  /**
   * Deletes the steps of workflows that succeeded longer ago than this, in small batches. Answers
   * how many.
   */
  forget(olderThanMs: number): Promise<number>;
}
