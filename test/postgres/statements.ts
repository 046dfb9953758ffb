// Counts the statements that a database executes, with PostgreSQL's own extension.

import pg from 'pg';
import type { PostgresServer } from './server.ts';

export interface CountedStatement {
  readonly text: string;
  readonly calls: number;
}

export interface StatementCount {
  /** Since `restart`, by the database's clock. */
  readonly seconds: number;
  /** Most frequent first. */
  readonly statements: readonly CountedStatement[];
}

export interface StatementCounter {
  /** Resets the counts of this database. */
  restart(): Promise<void>;
  read(): Promise<StatementCount>;
  close(): Promise<void>;
}

/** The server loads the extension when it next starts, so it is restarted. */
export async function makeCountable(server: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await client.end();
  await server.stop('SIGINT');
  await server.start();
}

/** Excludes its own statements. `url` is the database's URL for the owner of the server. */
export async function countStatements(url: string): Promise<StatementCounter> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create extension pg_stat_statements');
  let sinceMs = 0;
  const nowMs = async (): Promise<number> => {
    const { rows } = await client.query<{ own_ms: string }>(
      'select extract(epoch from clock_timestamp()) * 1000 as own_ms',
    );
    return Number(rows[0]?.own_ms);
  };
  return {
    restart: async () => {
      await client.query('select pg_stat_statements_reset()');
      sinceMs = await nowMs();
    },
    read: async () => {
      const untilMs = await nowMs();
      const { rows } = await client.query<{ text: string; calls: string }>(
        `select query as text, sum(calls) as calls from pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database())
           and toplevel and query not like '%pg_stat_statements%' and query not like '% as own_ms'
         group by query order by 2 desc, 1`,
      );
      const statements = rows.map(({ text, calls }) => ({ text, calls: Number(calls) }));
      return { seconds: (untilMs - sinceMs) / 1000, statements };
    },
    close: () => client.end(),
  };
}
