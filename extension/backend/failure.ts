// Failures of the backend as one type of value: a kind, as in its refusals, and a sentence. Pure.

import { ErrorOfKind } from '../../server/core/failure.ts';
import { refusalErrorCode } from '../../server/protocol/api.ts';

/** The reason for a missing connection; `kind` is the kind of the backend's refusal. */
export class BackendFailure extends ErrorOfKind<string> {
  override name = 'BackendFailure';
}

/** Codes of vscode-jsonrpc for requests whose connection ended before they were answered. */
const pendingRejected = -32097;
const connectionInactive = -32096;

export function gone(): BackendFailure {
  return new BackendFailure('gone', 'The connection to the backend was lost. Reconnecting …');
}

/**
 * The failure that a command with `--json` printed instead of its result; null if it printed a
 * result.
 */
export function printedFailure(stdout: string): BackendFailure | null {
  let said: unknown;
  try {
    said = JSON.parse(stdout);
  } catch {
    return null;
  }
  const { error } = (typeof said === 'object' && said !== null ? said : {}) as {
    readonly error?: { readonly kind?: unknown; readonly message?: unknown };
  };
  if (typeof error?.kind !== 'string' || typeof error.message !== 'string') return null;
  return new BackendFailure(error.kind, error.message);
}

/** Converts every refusal and failure to the same type of value: a kind and a sentence. */
export function toFailure(error: unknown): BackendFailure {
  if (error instanceof BackendFailure) return error;
  if (!(error instanceof Error)) return new BackendFailure('gone', String(error));
  const { kind } = error as { kind?: unknown };
  if (typeof kind === 'string') return new BackendFailure(kind, error.message);
  const { code, data } = error as { code?: unknown; data?: { kind?: unknown } };
  // A string is an errno of the socket; a positive number means that the connection has ended.
  if (typeof code === 'string') return new BackendFailure('gone', error.message);
  if (typeof code !== 'number') return new BackendFailure('internal', error.message);
  if (code !== refusalErrorCode) {
    const isEnded = code > 0 || code === pendingRejected || code === connectionInactive;
    return isEnded ? gone() : new BackendFailure('internal', error.message);
  }
  return new BackendFailure(typeof data?.kind === 'string' ? data.kind : 'refused', error.message);
}
