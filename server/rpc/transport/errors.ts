// Converts refusals and internal errors to responses and back.

import { ConnectionError, ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { ErrorOfKind, Refusal, toRefusalKind, type Result } from '../../core/failure.ts';
import { refusalErrorCode } from '../../protocol/api.ts';

/** The backend exited or never responded. The caller may connect again. */
export class BackendGone extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BackendGone';
  }
}

/**
 * Why the connection failed. `unreachable`: no backend listens there. `leaving`: an older idle
 * backend exits; start a new one. `protocol`: the other end is too old or too new, and is busy.
 * `refused`: it did not accept the token.
 */
export type ConnectFailureKind = 'unreachable' | 'leaving' | 'protocol' | 'refused';

export class ConnectFailure extends ErrorOfKind<ConnectFailureKind> {
  override name = 'ConnectFailure';
}

/** Returns the parameters of a request or throws the refusal. */
export function unwrapOrRefuse<Value>(read: Result<Value, string>): Value {
  if (read.ok) return read.value;
  throw new Refusal('bad_request', read.error);
}

interface ErrorData {
  readonly kind: string;
}

export function toResponseError(error: unknown): ResponseError<ErrorData> {
  if (error instanceof ResponseError) return error as ResponseError<ErrorData>;
  if (error instanceof Refusal) {
    return new ResponseError(refusalErrorCode, error.message, { kind: error.kind });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ResponseError(ErrorCodes.InternalError, message, { kind: 'internal' });
}

export function fromResponseError(error: unknown): Error {
  if (error instanceof ResponseError) {
    if (error.code === refusalErrorCode)
      return new Refusal(toRefusalKind(kindIn(error.data)), error.message);
    if (error.code === ErrorCodes.InvalidParams) return new Refusal('bad_request', error.message);
    if (error.code === ErrorCodes.PendingResponseRejected) return gone();
    return new Error(error.message);
  }
  if (error instanceof ConnectionError) return gone();
  if (error instanceof Error) return isStreamFault(error) ? gone() : error;
  return new Error(String(error));
}

function gone(): BackendGone {
  return new BackendGone('The backend went away before it answered.');
}

function isStreamFault(error: Error): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED';
}

function kindIn(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'kind' in data ? data.kind : null;
}
