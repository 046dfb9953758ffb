// Distinguishes database problems (a restart, a network failure, a full disk) from a workflow's
// bug.

import { Refusal } from '../../core/failure.ts';

/**
 * SQLSTATE classes: connection, transaction rollback, resources, operator intervention, system,
 * idle timeout.
 */
const troubleStates = ['08', '40', '53', '57', '58', '25P0', '55P03', '3D000'];
const troubleCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** The driver's own errors have no code. */
const troubleMessage =
  /^(Connection terminated|Client was closed and is not queryable|Client has encountered a connection error|timeout exceeded when trying to connect|Cannot use a pool)/;

export function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof Refusal) return error.kind === 'database';
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return troubleMessage.test(error.message);
  return troubleCodes.has(code) || troubleStates.some((state) => code.startsWith(state));
}
