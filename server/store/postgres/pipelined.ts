// Sends the queries that a transaction makes at the same time together. Kysely separates a
// transaction's queries: each waits for the response to the previous one, even in a `Promise.all`.
// PostgreSQL accepts them back to back and responds in order. The dispatcher makes fifteen queries
// per round; one after another, they would hold up all other machines for 150 ms if the database is
// 10 ms away.

import {
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type Dialect,
  Kysely,
  type KyselyPlugin,
} from 'kysely';

type Parts = ConstructorParameters<typeof DefaultQueryExecutor>;

class PipelinedExecutor extends DefaultQueryExecutor {
  readonly #compiler: Parts[0];

  constructor(...parts: Parts) {
    super(...parts);
    [this.#compiler] = parts;
  }

  /** Called for the only connection of a transaction. */
  override withConnectionProvider(provider: ConnectionProvider): DefaultQueryExecutor {
    const shared = new SharedConnection(provider);
    return new DefaultQueryExecutor(this.#compiler, this.adapter, shared, [...this.plugins]);
  }
}

class SharedConnection implements ConnectionProvider {
  readonly #owner: ConnectionProvider;
  #connection: Promise<DatabaseConnection> | null = null;

  /** The owner's connection, which it uses until the transaction has ended. */
  constructor(owner: ConnectionProvider) {
    this.#owner = owner;
  }

  async provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    this.#connection ??= this.#owner.provideConnection((connection) => Promise.resolve(connection));
    return await consumer(await this.#connection);
  }
}

/** `new Kysely({ dialect, plugins })` with such transactions. */
export function pipelinedKysely<Tables>(dialect: Dialect, plugins: KyselyPlugin[]): Kysely<Tables> {
  const driver = dialect.createDriver();
  const provider = new DefaultConnectionProvider(driver);
  const compiler = dialect.createQueryCompiler();
  const executor = new PipelinedExecutor(compiler, dialect.createAdapter(), provider, plugins);
  return new Kysely<Tables>({ config: { dialect, plugins }, dialect, driver, executor });
}
