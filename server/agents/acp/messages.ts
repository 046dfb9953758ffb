// Parses messages and errors of the Agent Client Protocol.

import { RequestError, type AnyMessage } from '@agentclientprotocol/sdk';
import type { AcpError } from './outcome.ts';

export function parseMessage(line: string): AnyMessage | null {
  if (!line.startsWith('{')) return null;
  try {
    const message: unknown = JSON.parse(line);
    const isMessage = typeof message === 'object' && message !== null && 'jsonrpc' in message;
    return isMessage ? (message as AnyMessage) : null;
  } catch {
    return null;
  }
}

export function parseAcpError(error: unknown): AcpError | null {
  if (!(error instanceof RequestError)) return null;
  const data: unknown = error.data;
  const found =
    typeof data === 'object' && data !== null
      ? (data as Readonly<Record<string, unknown>>)
      : ({} as Readonly<Record<string, unknown>>);
  const status = found['status'] ?? found['statusCode'] ?? found['code'];
  const details = typeof found['details'] === 'string' ? `: ${found['details']}` : '';
  return {
    code: error.code,
    message: `${error.message}${details}`.slice(0, 500),
    status: typeof status === 'number' ? status : null,
  };
}
