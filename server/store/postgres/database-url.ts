// The location of a database, parsed from its URL, in a form without the password that may be
// displayed.

import pg from 'pg';
import { databaseClientClass, parseServers } from '../../durable/fleet/database-servers.ts';
import { PostgresRefusal, type PlaceWords } from './trouble.ts';

export interface PostgresPlace extends PlaceWords {
  /** A URL for each server, with the password. Only for connecting. */
  readonly servers: readonly [string, ...string[]];
  /** Connects to the server or, if there are several, to the one that accepts writes. */
  readonly Client: typeof pg.Client;
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/**
 * Parts that the URL omits come from PostgreSQL's own defaults (`PGUSER`, `PGPASSWORD` and so on).
 */
export function parseDatabaseUrl(url: string): PostgresPlace {
  if (!isPostgresUrl(url)) throw notAUrl('it does not start with postgresql://');
  const servers = readServers(url);
  const clients = servers.map(parsed);
  const [{ user, database }] = clients as [pg.Client];
  if (user === undefined || user === '') throw notAUrl('it names no role');
  if (database === undefined || database === '') throw notAUrl('it names no database');
  for (const client of clients) refuseUnprotected(url, client);
  const address = clients
    .map(({ host, port }) => (host.startsWith('/') ? host : `${host}:${port}`))
    .join(',');
  return {
    servers,
    Client: databaseClientClass(servers),
    host: address,
    database,
    user,
    shown: `postgresql://${user}@${address}/${database}`,
  };
}

function readServers(url: string): PostgresPlace['servers'] {
  try {
    return parseServers(url);
  } catch (error) {
    throw notAUrl(error instanceof Error ? error.message : String(error));
  }
}

/** The client parses the URL when it is created, long before it connects. */
function parsed(url: string): pg.Client {
  try {
    return new pg.Client({ connectionString: url });
  } catch (error) {
    // The parser's message may contain the URL. A certificate that cannot be read is named by its
    // path.
    const path = error instanceof Error && 'path' in error ? String(error.path) : null;
    throw notAUrl(path === null ? 'it cannot be read as a URL' : `${path} cannot be read`);
  }
}

/**
 * Anyone who can write to the tables can run commands on every machine, so the connection must be
 * protected against reading and tampering. Encryption without a verified peer protects against
 * neither.
 */
function refuseUnprotected(url: string, client: pg.Client): void {
  const { ssl, host } = client as pg.Client & { readonly ssl?: unknown };
  const isNear = host.startsWith('/') || /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host);
  const mode = /[?&]sslmode=([^&]+)/.exec(url)?.[1] ?? process.env['PGSSLMODE'];
  const isEncrypted = ssl !== undefined && ssl !== false;
  if (isNear || mode === 'disable' || (isEncrypted && isVerified(ssl))) return;
  const [what, who] = isEncrypted
    ? ['encrypted to any server that answers, because its certificate is not verified', 'sits']
    : ['not encrypted', 'reads it'];
  throw new PostgresRefusal(
    'bad_url',
    `The connection to the database on ${host} would be ${what}: who ${who} along the way could run commands on every machine of the fleet. Add ?sslmode=verify-full to the URL (and &sslrootcert=/path/ca.pem), or ?sslmode=disable if that network is yours alone.`,
  );
}

/** If the URL does not say, Node's own variable decides. */
function isVerified(ssl: unknown): boolean {
  const told = (ssl as { readonly rejectUnauthorized?: unknown }).rejectUnauthorized;
  return told === undefined ? process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0' : told !== false;
}

function notAUrl(reason: string): PostgresRefusal {
  return new PostgresRefusal(
    'bad_url',
    `The URL of the database is not usable: ${reason}. Write it as postgresql://role:password@host:5432/database.`,
  );
}
