// The privileges that the owner of a fleet's database grants to a worker's role: for rows, but not
// for creating, changing or dropping tables.

import { sql, type Kysely } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import { dbosSchema } from './dbos.ts';
import type { FleetTables } from './tables.ts';

export interface GrantRequest {
  readonly role: string;
  readonly database: string;
  /** The schema of the store's tables. */
  readonly storeSchema: string;
}

/**
 * One statement each, without a semicolon. A dump also reads sequences. The statements may be run
 * again at any time. The default privileges cover tables that a later release of Drover adds, if
 * the same owner prepares them.
 */
export function grantStatements(request: GrantRequest): readonly string[] {
  const role = quoted(request.role);
  const schemas = [...new Set([request.storeSchema, dbosSchema, 'drover_durable'])].map(quoted);
  return [
    `GRANT CONNECT ON DATABASE ${quoted(request.database)} TO ${role}`,
    ...schemas.flatMap((schema) => [
      `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
      `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role}`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT USAGE, SELECT ON SEQUENCES TO ${role}`,
    ]),
  ];
}

/** All or nothing. An unknown role is refused with the statement that creates it. */
export async function grantFleetRole(
  db: Kysely<FleetTables>,
  request: GrantRequest,
): Promise<void> {
  const { rows } = await sql`select 1 from pg_roles where rolname = ${request.role}`.execute(db);
  if (rows.length === 0) {
    throw new Refusal(
      'bad_value',
      `The role "${request.role}" does not exist on this server. Create it first: CREATE ROLE ${quoted(request.role)} LOGIN PASSWORD '...';`,
    );
  }
  await db.transaction().execute(async (tx) => {
    for (const statement of grantStatements(request)) await sql.raw(statement).execute(tx);
  });
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
