// Parses listen addresses as Go programs write them.

import { err, ok, type Result } from '../failure.ts';

export interface ListenAddress {
  /** Null = listen on all addresses. */
  readonly host: string | null;
  readonly port: number;
}

const addressPattern = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/;
const portMax = 65_535;

/** `127.0.0.1:8800`, `[::1]:8800`, `:8800`. The error describes the problem. */
export function parseListenAddress(text: string): Result<ListenAddress, string> {
  const match = addressPattern.exec(text.trim());
  const port = Number(match?.[3]);
  if (match === null || port > portMax) {
    return err(`"${text}" is not an address; write host:port, as 127.0.0.1:8800, or :8800 for all`);
  }
  const host = match[1] ?? match[2] ?? '';
  return ok({ host: host === '' ? null : host, port });
}
