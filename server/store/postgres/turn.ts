// A turn in few round trips: what needs no answer is sent and not waited for.
//
// While a machine has its turn, all others wait, so its distance to the database counts for the
// whole fleet. The beginning, writes that return nothing, and the commit travel behind each other;
// only reads are waited for. PostgreSQL refuses all that follows a statement that failed, so the
// commit tells of every failure before it.

import {
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  InsertQueryNode,
  type QueryResult,
  UpdateQueryNode,
} from 'kysely';
import { isUnanswered } from '../../durable/unanswered.ts';

type Options = Parameters<DatabaseConnection['executeQuery']>[1];

export class TurnConnection<Inner extends DatabaseConnection> implements DatabaseConnection {
  /** What Kysely's own driver made; it knows how to release it. */
  readonly inner: Inner;
  #turn: Turn | null = null;

  constructor(inner: Inner) {
    this.inner = inner;
  }

  begin(statement: CompiledQuery): void {
    this.#turn = new Turn();
    this.#send(this.#turn, statement);
  }

  /** The commit itself is the statement that is waited for. */
  async commit(commit: () => Promise<void>): Promise<void> {
    const turn = this.#turn;
    this.#turn = null;
    await (turn === null ? commit() : turn.told(commit()));
  }

  forget(): void {
    this.#turn = null;
  }

  executeQuery<R>(query: CompiledQuery, options?: Options): Promise<QueryResult<R>> {
    if (this.#turn === null) return this.inner.executeQuery<R>(query, options);
    if (!isWithoutAnswer(query)) return this.#turn.told(this.inner.executeQuery<R>(query, options));
    this.#send(this.#turn, query, options);
    return this.#turn.failed === null
      ? Promise.resolve({ rows: [] })
      : Promise.reject(this.#turn.failed);
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number, options?: Options) {
    return this.inner.streamQuery<R>(query, chunkSize, options);
  }

  #send(turn: Turn, query: CompiledQuery, options?: Options): void {
    this.inner.executeQuery(query, options).catch((error: unknown) => turn.fail(error));
  }
}

class Turn {
  failed: Error | null = null;

  /** The first one is the cause; the others say that the transaction is aborted. */
  fail(error: unknown): void {
    this.failed ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Answers come in the order of the questions: with this one, all before it are there. */
  async told<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer;
      if (this.failed === null) return value;
    } catch (error) {
      this.fail(error);
    }
    throw this.failed;
  }
}

/**
 * How many rows it changed is not told either: whoever wants to know asks with RETURNING
 * (`test/architecture.test.ts` sees to it).
 */
function isWithoutAnswer(compiled: CompiledQuery): boolean {
  const { query } = compiled;
  const isWrite =
    InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query);
  return isUnanswered(compiled) || (isWrite && query.returning === undefined);
}
