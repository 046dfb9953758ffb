// The only file that touches DBOS: how its engine is started, the workflows that we register with
// it, and the five internals that we use (its package exports them as `internal/*`; the version is
// pinned, and the suite holds us to it).
//
// DBOS keeps its engine, its registry and its identity in variables of the module: one engine for
// each process.

import { DBOS, DBOSWorkflowConflictError, type DLogger } from '@dbos-inc/dbos-sdk';
import { currentOwnerXid, runWithAbortableDbRetries } from '@dbos-inc/dbos-sdk/internal/context';
import { DBOSInitializationError } from '@dbos-inc/dbos-sdk/internal/error';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import {
  ensureSystemDatabase,
  verifySystemDatabase,
} from '@dbos-inc/dbos-sdk/internal/system_database';
import type { Pool } from 'pg';

/** DBOS's own schema, and our name inside it. Part of the SQL texts too, so neither may change. */
export const dbosSchema = 'dbos';
export const dbosApplication = 'drover';

/**
 * We do not limit how often a workflow may be resumed: machines come and go. DBOS would give up
 * after 100.
 */
const recoveryAttemptsMax = 2_000_000_000;

export interface EngineOptions {
  readonly pool: Pool;
  readonly executorId: string;
  readonly applicationVersion: string;
}

/** Runs a body: gets the token of the claim under which DBOS runs it. */
export type Execute = (
  name: string,
  workflowId: string,
  token: string,
  input: unknown,
) => Promise<unknown>;

let launched = false;

/**
 * Creates or migrates the tables of DBOS. Two that do so at the same time disturb each other: see
 * `prepareFleetDatabase`.
 */
export async function migrateDbos(pool: Pool): Promise<void> {
  // Its logger class has private fields; the migrations use its four methods only.
  const logger = quiet as unknown as Parameters<typeof ensureSystemDatabase>[1];
  await ensureSystemDatabase('', logger, pool, dbosSchema, false);
}

/** Whether the tables of DBOS are as new as this release needs them. Changes nothing. */
export async function isDbosMigrated(pool: Pool): Promise<boolean> {
  const logger = quiet as unknown as Parameters<typeof verifySystemDatabase>[1];
  try {
    await verifySystemDatabase('', logger, pool, dbosSchema, false);
    return true;
  } catch (error) {
    if (error instanceof DBOSInitializationError) return false;
    throw error;
  }
}

/**
 * Brings the engine up with one DBOS workflow for each name. Its queues stay unused: work is handed
 * to it.
 */
export async function launchEngine(
  options: EngineOptions,
  names: readonly string[],
  execute: Execute,
): Promise<void> {
  if (launched) {
    throw new Error('DBOS runs once in a process: close the first fleet adapter before the second');
  }
  launched = true;
  try {
    for (const name of names) registerName(name, execute);
    DBOS.setConfig({
      name: dbosApplication,
      systemDatabasePool: options.pool,
      systemDatabaseSchemaName: dbosSchema,
      applicationVersion: options.applicationVersion,
      executorID: options.executorId,
      listenQueues: [],
      useListenNotify: false,
      runMigrations: false,
      logger: quiet,
    });
    await DBOS.launch();
    await stopPolling();
  } catch (error) {
    await shutDownEngine();
    throw error;
  }
}

/**
 * DBOS queries the database eight times a second for queues, schedules, delays and time-outs. None
 * of them is used: our claim also takes workflows that DBOS's own tools put into its internal
 * queue.
 */
async function stopPolling(): Promise<void> {
  const executor = DBOSExecutor.globalInstance;
  await executor?.deactivateEventReceivers();
  await executor?.stopWorkflowTimeoutSweep();
}

function registerName(name: string, execute: Execute): void {
  DBOS.registerWorkflow(
    async (input: unknown) => {
      const id = DBOS.workflowID;
      const token = id === undefined ? undefined : currentOwnerXid(id);
      if (id === undefined || token === undefined) throw new Error(`${name} runs outside of DBOS`);
      return execute(name, id, token, input);
    },
    { name, serialization: 'portable', maxRecoveryAttempts: recoveryAttemptsMax },
  );
}

export async function shutDownEngine(): Promise<void> {
  try {
    await DBOS.shutdown({ deregister: true });
  } finally {
    launched = false;
  }
}

/**
 * Starts claimed workflows once they are `ready`. Each promise ends when DBOS has recorded the end,
 * which may never happen for one that we abandoned. DBOS waits for an unreachable database until
 * the signal aborts.
 */
export async function runClaimed(
  ids: readonly string[],
  token: string,
  signal: AbortSignal,
  ready: Promise<void>,
): Promise<ReadonlyMap<string, Promise<unknown>>> {
  const executor = DBOSExecutor.globalInstance;
  if (executor === undefined) throw new Error('DBOS is not launched');
  return runWithAbortableDbRetries(signal, async () => {
    const [statuses] = await Promise.all([
      executor.systemDatabase.getWorkflowStatuses([...ids]),
      ready,
    ]);
    const begun = new Map<string, Promise<unknown>>();
    for (const [id, status] of statuses) {
      // A row that moved on since the claim is not ours to run.
      if (status.status !== 'PENDING') continue;
      const ended = executor
        .executeDequeuedWorkflow(status, token)
        .then((handle) => handle.getResult());
      ended.catch(() => undefined); // The caller may await it later.
      begun.set(id, ended);
    }
    return begun;
  });
}

/** Thrown out of a body to tell DBOS that this execution does not decide how the workflow ends. */
export function notOursToEnd(workflowId: string): Error {
  return new DBOSWorkflowConflictError(workflowId);
}

/** DBOS's reports about the database are redundant with our own queries to it. */
const quiet: DLogger = {
  info: () => undefined,
  debug: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
