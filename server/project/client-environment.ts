// The environment that a client sends with a request for a run. It comes from the same user over
// the private socket.

import { delimiter } from 'node:path';
import { absoluteEntries } from '../files/program-path.ts';
import type { Environment } from './live-settings.ts';

/**
 * A program that was installed after the backend started is only on the client's PATH, and one that
 * the backend finds may be missing for a client that the desktop started. So the backend's entries
 * are appended to the client's. Relative entries are dropped.
 */
export function withBackendPath(client: Environment, backend: Environment): Environment {
  const name = nameOfPath(client);
  const entries = [client[name], backend[nameOfPath(backend)]].flatMap((path) =>
    absoluteEntries(path ?? '').split(delimiter),
  );
  const path = [...new Set(entries)].filter((entry) => entry !== '').join(delimiter);
  return path === '' ? client : { ...client, [name]: path };
}

/** Windows ignores case in this name. */
function nameOfPath(environment: Environment): string {
  return Object.keys(environment).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}
