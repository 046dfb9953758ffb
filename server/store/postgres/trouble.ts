// Converts errors of PostgreSQL and of the network to a refusal that names the database and the
// remedy.

import { Refusal } from '../../core/failure.ts';

export const postgresTroubles = [
  'bad_url',
  'unreachable', // no server responds, or the host name is unknown
  'lost', // the connection was lost: the server restarted or closed it, or the network is down
  'starting', // it is starting up or shutting down
  'password', // wrong password, unknown role, or the server accepts no connections from here
  'tls', // encryption is missing or the certificate is not trusted
  'no_database',
  'too_old',
  'encoding',
  'standby', // the server is read-only
  'forbidden', // the role lacks a privilege
  'newer_schema',
  'foreign_tables', // tables with our names belong to another owner
  'full', // the server's disk is full
  'connections', // the server or the pool has no connection left
  'busy', // a lock did not become free in time
  'slow', // a statement took too long
  'not_set_up', // our tables do not exist
  'pooler', // a pooler shares sessions between clients
] as const;

export type PostgresRefusalName = (typeof postgresTroubles)[number];

/**
 * Problems that pass, or that the server's administrator fixes, so that the caller only needs to
 * retry.
 */
const retryable: ReadonlySet<PostgresRefusalName> = new Set([
  'unreachable',
  'lost',
  'starting',
  'full',
  'connections',
  'busy',
  'slow',
]);

/** `kind` is `database`, as for a SQLite file that cannot be used. */
export class PostgresRefusal extends Refusal {
  readonly trouble: PostgresRefusalName;
  readonly retryable: boolean;
  constructor(trouble: PostgresRefusalName, message: string, cause?: unknown) {
    super(trouble === 'newer_schema' ? 'newer database' : 'database', message);
    this.name = 'PostgresRefusal';
    this.trouble = trouble;
    this.retryable = retryable.has(trouble);
    if (cause !== undefined) this.cause = cause;
  }
}

export interface PlaceWords {
  readonly shown: string;
  readonly host: string;
  readonly database: string;
  readonly user: string;
}

/**
 * Converts an error about the server, the network or the role's privileges. Any other error (a
 * violated constraint, bad SQL) is a bug of the caller and returned unchanged.
 */
export function postgresError(error: unknown, place: PlaceWords): unknown {
  if (!(error instanceof Error) || error instanceof PostgresRefusal) return error;
  const first = firstOf(error);
  const trouble = troubleOf(first);
  if (trouble === null) return error;
  return new PostgresRefusal(trouble, sentence(trouble, place, inOneLine(first.message)), first);
}

/** A host with several addresses causes one error for each. */
function firstOf(error: Error): Error {
  if (!(error instanceof AggregateError)) return error;
  const [first] = error.errors as readonly unknown[];
  return first instanceof Error ? first : error;
}

/** The SQLSTATE, or Node's error code. */
export function postgresErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

const byCode: Readonly<Record<string, PostgresRefusalName>> = {
  '28P01': 'password',
  '28000': 'password',
  '3D000': 'no_database',
  '42501': 'forbidden',
  '42P01': 'not_set_up',
  '25006': 'standby',
  '53100': 'full',
  '53200': 'connections',
  '53300': 'connections',
  '55P03': 'busy',
  '57014': 'slow',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'starting',
  '57P05': 'lost',
  '25P03': 'lost',
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'unreachable',
  ENOENT: 'unreachable',
  EACCES: 'unreachable',
  ECONNRESET: 'lost',
  EPIPE: 'lost',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  CERT_HAS_EXPIRED: 'tls',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls',
};

/** Recognizes errors of the client library that have no code. */
const byWords: readonly (readonly [RegExp, PostgresRefusalName])[] = [
  [/password must be a (?:non-empty )?string/i, 'password'],
  [/does not support SSL/i, 'tls'],
  [/^timeout exceeded when trying to connect/i, 'connections'],
  [/connection terminated due to connection timeout/i, 'unreachable'],
  [/connection terminated|client has encountered a connection error/i, 'lost'],
  [/connection has been discarded|client was closed/i, 'lost'],
  [/query read timeout/i, 'slow'],
];

function troubleOf(error: Error): PostgresRefusalName | null {
  const code = postgresErrorCode(error);
  if (code === '28000' && /no encryption|SSL off/i.test(error.message)) return 'tls';
  const named = code === null ? undefined : byCode[code];
  if (named !== undefined) return named;
  if (code?.startsWith('08') === true) return 'lost';
  return byWords.find(([words]) => words.test(error.message))?.[1] ?? null;
}

function inOneLine(words: string): string {
  const line = words.replace(/\s+/gu, ' ').trim().replace(/\.$/u, '');
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

function sentence(trouble: PostgresRefusalName, place: PlaceWords, detail: string): string {
  const { shown, host, database, user } = place;
  switch (trouble) {
    case 'unreachable':
      return `No PostgreSQL answers at ${host} (${detail}). Start it, or check the address and the firewall.`;
    case 'lost':
      return `The connection to ${shown} was lost (${detail}). Drover continues when the server is back.`;
    case 'starting':
      return `PostgreSQL at ${host} is starting or stopping (${detail}). Wait, then try again.`;
    case 'password':
      return `PostgreSQL at ${host} refused the role "${user}" (${detail}). Check the role and the password in the URL, and the server's pg_hba.conf.`;
    case 'tls':
      return `No encrypted connection to ${host} could be made (${detail}). Add sslmode=verify-full and sslrootcert=<file> to the URL, or let the server offer TLS.`;
    case 'no_database':
      return `Database "${database}" does not exist on ${host} (${detail}). Create it: CREATE DATABASE "${database}" OWNER "${user}";`;
    case 'standby':
      return `${shown} only reads (${detail}). Name the primary server in the URL.`;
    case 'forbidden':
      return `The role "${user}" lacks a permission in ${shown} (${detail}). As the owner of the database, run "drover fleet prepare", then "drover fleet grant ${user}"; or give it a schema of its own: CREATE SCHEMA "${user}" AUTHORIZATION "${user}";`;
    case 'full':
      return `The disk of PostgreSQL at ${host} is full (${detail}). Nothing was changed. Free some space; Drover then continues.`;
    case 'connections':
      return `PostgreSQL at ${host} has no connection left for "${user}" (${detail}). Raise max_connections, or the role's own limit (ALTER ROLE "${user}" CONNECTION LIMIT), or let fewer workers or smaller pools use it.`;
    case 'busy':
      return `Another Drover locked ${shown} for too long (${detail}). Nothing was changed. Try again.`;
    case 'slow':
      return `${shown} did not answer in time (${detail}). Nothing was changed. Check the load of the server, then try again.`;
    case 'not_set_up':
      return `Drover's tables are not in ${shown} (${detail}): another search_path, or they were dropped. Check the URL, or restore a backup.`;
    case 'bad_url':
    case 'too_old':
    case 'encoding':
    case 'newer_schema':
    case 'foreign_tables':
    case 'pooler':
      return `${shown}: ${detail}.`;
  }
}
