// The only file that uses DBOS: starting its engine, the workflows that we register with it, and
// the five internals that we use (its package exports them as `internal/*`; the version is pinned,
// and the test suite checks them).
//
// DBOS keeps its engine, its registry and its identity in module variables, so each process has one
// engine.

import { DBOS, DBOSWorkflowConflictError, type DLogger } from '@dbos-inc/dbos-sdk';
import { currentOwnerXid, runWithAbortableDbRetries } from '@dbos-inc/dbos-sdk/internal/context';
import { DBOSInitializationError } from '@dbos-inc/dbos-sdk/internal/error';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import {
  ensureSystemDatabase,
  verifySystemDatabase,
} from '@dbos-inc/dbos-sdk/internal/system_database';
import type { Pool } from 'pg';

/** DBOS's own schema, and our name inside it. Also part of the SQL texts, so neither may change. */
export const dbosSchema = 'dbos';
export const dbosApplication = 'drover';

/**
 * The number of recoveries is not limited, because machines join and leave. DBOS would give up
 * after 100.
 */
const recoveryAttemptsMax = 2_000_000_000;

export interface EngineOptions {
  readonly pool: Pool;
  readonly executorId: string;
  readonly applicationVersion: string;
}

/** Runs a body with the token of the claim under which DBOS runs it. */
export type Execute = (
  name: string,
  workflowId: string,
  token: string,
  input: unknown,
) => Promise<unknown>;

let launched = false;

/**
 * Creates or migrates DBOS's tables. Two processes that do so at the same time disturb each other;
 * see `prepareFleetDatabase`.
 */
export async function migrateDbos(pool: Pool): Promise<void> {
  // Its logger class has private fields, but the migrations only use its four methods.
  const logger = quiet as unknown as Parameters<typeof ensureSystemDatabase>[1];
  await ensureSystemDatabase('', logger, pool, dbosSchema, false);
}

/** Whether DBOS's tables are new enough for this release. Changes nothing. */
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
 * Starts the engine with one DBOS workflow per name. Its queues stay unused, because work is passed
 * to it directly.
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
 * DBOS queries the database eight times a second for queues, schedules, delays and timeouts, none
 * of which is used: our claim also takes workflows that DBOS's own tools put into its internal
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
 * which may never happen for an abandoned one. DBOS waits for an unreachable database until the
 * signal aborts.
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
      // A row that has changed since the claim is not ours to run.
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

/** Thrown out of a body so that DBOS does not record an end for this execution. */
export function notOursToEnd(workflowId: string): Error {
  return new DBOSWorkflowConflictError(workflowId);
}

/** DBOS's reports about the database are redundant with our own queries. */
const quiet: DLogger = {
  info: () => undefined,
  debug: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
