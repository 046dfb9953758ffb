// Questions that a transaction asks at once travel at once. Kysely keeps a transaction's queries
// apart: each waits for the answer to the one before, also those of a `Promise.all`. PostgreSQL
// takes them behind each other, and answers in their order. The dispatcher asks fifteen of them in
// a round: one after the other, they would hold up all other machines for 150 ms if the database is
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

  /** Called for the one connection of a transaction. */
  override withConnectionProvider(provider: ConnectionProvider): DefaultQueryExecutor {
    const shared = new SharedConnection(provider);
    return new DefaultQueryExecutor(this.#compiler, this.adapter, shared, [...this.plugins]);
  }
}

class SharedConnection implements ConnectionProvider {
  readonly #owner: ConnectionProvider;
  #connection: Promise<DatabaseConnection> | null = null;

  /** It belongs to its owner until the transaction has ended. */
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
