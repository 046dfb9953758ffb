// The servers in one URL (`host1:5432,host2:5432`, as in libpq). If there are several, each
// connection searches for the one that accepts writes.

import { Client, type ClientConfig } from 'pg';

/** A field that the driver's types omit: the server to which the client connects. */
interface Target {
  host: string;
  port: number;
}

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/** SQLSTATE `cannot_connect_now`: ends when the servers have elected a primary. */
const cannotConnectNow = '57P03';
const lookMaxMs = 5_000;
const looksAtWritable: ReadonlySet<string> = new Set(['any', 'read-write', 'primary']);

/**
 * One URL per server in `url`, without `target_session_attrs`, because Drover always needs the
 * server that accepts writes. Throws an `Error` that does not contain the URL.
 */
export function parseServers(url: string): readonly [string, ...string[]] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^?#]*)(\?[^#]*)?/i.exec(url);
  if (match === null) return [url];
  const [, before = '', hosts = '', path = '', query = ''] = match;
  const [first = '', ...others] = hosts.split(',');
  if (others.length === 0) return [url];
  if ([first, ...others].some((host) => host === ''))
    throw new Error('a comma has no host before or after it');
  const settings = new URLSearchParams(query);
  const wanted = settings.get('target_session_attrs');
  if (wanted !== null && !looksAtWritable.has(wanted))
    throw new Error(
      `target_session_attrs is ${JSON.stringify(wanted)}, and Drover needs the server that takes writes; use "read-write"`,
    );
  const rest = query
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !part.startsWith('target_session_attrs='))
    .join('&');
  const urlOf = (host: string): string => `${before}${host}${path}${rest === '' ? '' : `?${rest}`}`;
  return [urlOf(first), ...others.map(urlOf)];
}

/**
 * The driver's client or, for several servers, one that searches for the primary at each
 * connection. Without a server that accepts writes, connecting fails with SQLSTATE 57P03, or with
 * the servers' own error if none of them responds as a standby.
 */
export function databaseClientClass(servers: readonly [string, ...string[]]): typeof Client {
  const [first, ...others] = servers;
  if (others.length === 0) return Client;
  let looking: Promise<Target> | null = null;
  // Simultaneous connections share one search. A later one searches again, because servers change
  // roles.
  const primary = (): Promise<Target> =>
    (looking ??= primaryOf(servers).finally(() => (looking = null)));
  return class extends Client {
    #isEnded = false;

    constructor(config?: string | ClientConfig) {
      super({ ...(typeof config === 'object' ? config : {}), connectionString: first });
    }

    override connect(): Promise<Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<Client> | undefined {
      const connected = primary().then((target) => {
        if (this.#isEnded) throw new Error('Client was closed');
        Object.assign(this as Target, target);
        return super.connect();
      });
      if (callback === undefined) return connected;
      connected.then(
        () => (callback as (error: null, client: Client) => void)(null, this),
        callback as (error: Error) => void,
      );
      return undefined;
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | undefined {
      this.#isEnded = true;
      if (callback === undefined) return super.end();
      super.end(callback);
      return undefined;
    }
  };
}

/** Asks all servers at the same time, so that one that never responds delays no caller. */
async function primaryOf(servers: readonly string[]): Promise<Target> {
  const failures: unknown[] = [];
  const asked = servers.map(async (url) => {
    try {
      return await askServer(url);
    } catch (error) {
      failures.push(error);
      throw error;
    }
  });
  try {
    return await Promise.any(asked);
  } catch {
    const isStandby = (error: unknown): boolean => error instanceof ReadsOnly;
    if (!failures.some(isStandby)) throw failures[0];
    throw Object.assign(new Error('no server takes writes now'), { code: cannotConnectNow });
  }
}

class ReadsOnly extends Error {}

async function askServer(url: string): Promise<Target> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: lookMaxMs,
    query_timeout: lookMaxMs,
    application_name: 'drover',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ reads: boolean }>('select pg_is_in_recovery() as reads');
    if (rows[0]?.reads !== false) throw new ReadsOnly();
    const { host, port } = client;
    return { host, port };
  } finally {
    void client.end().catch(() => undefined);
  }
}
