// A transaction that waits only for its reads. Writes are sent without waiting, and the commit
// confirms them.
//
// While a machine has its turn, all others wait, so its distance to the database affects the whole
// fleet. A task whose agent changes nothing waits for the database 15 times. If each statement
// waited for its response, it would be 57 times, and a fleet 10 ms away from its database could do
// at most 1.7 such tasks per second. PostgreSQL refuses everything that follows a failed statement,
// so the commit reports every earlier failure.

import {
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  InsertQueryNode,
  type QueryResult,
  UpdateQueryNode,
} from 'kysely';
import { isUnanswered } from '../../durable/unanswered.ts';
import { transactionIsOver } from '../schema/dialect.ts';

/** A connection as used by one caller, until the caller releases it. */
export class TurnConnection<Inner extends DatabaseConnection> implements DatabaseConnection {
  /** The connection of Kysely's own driver, which knows how to release it. */
  readonly inner: Inner;
  /**
   * `over`: the transaction has ended. A query sent by a forgotten part of the body would otherwise
   * be committed by itself.
   */
  #state: 'open' | 'turn' | 'over' = 'open';
  #failed: Error | null = null;

  constructor(inner: Inner) {
    this.inner = inner;
  }

  begin(statement: CompiledQuery): void {
    this.#state = 'turn';
    this.#send(statement);
  }

  /** Waits only for the commit statement itself. */
  async commit(commit: () => Promise<void>): Promise<void> {
    this.end();
    await this.#told(commit());
  }

  end(): void {
    this.#state = 'over';
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#state === 'over') return Promise.reject(new Error(transactionIsOver));
    if (this.#state === 'open') return this.inner.executeQuery<R>(query);
    if (!isWithoutAnswer(query)) return this.#told(this.inner.executeQuery<R>(query));
    this.#send(query);
    return this.#failed === null ? Promise.resolve({ rows: [] }) : Promise.reject(this.#failed);
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number) {
    return this.inner.streamQuery<R>(query, chunkSize);
  }

  #send(query: CompiledQuery): void {
    this.inner.executeQuery(query).catch((error: unknown) => this.#fail(error));
  }

  /** The first failure is the cause. Later ones only report that the transaction was aborted. */
  #fail(error: unknown): void {
    this.#failed ??= error instanceof Error ? error : new Error(String(error));
  }

  /**
   * Responses arrive in the order of the statements, so all earlier ones have arrived before this
   * one.
   */
  async #told<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer;
      if (this.#failed === null) return value;
    } catch (error) {
      this.#fail(error);
    }
    throw this.#failed;
  }
}

/**
 * Such a write does not report how many rows it changed. A caller that needs the number uses
 * RETURNING (`test/architecture.test.ts` checks that).
 */
function isWithoutAnswer(compiled: CompiledQuery): boolean {
  const { query } = compiled;
  const isWrite =
    InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query);
  return isUnanswered(compiled) || (isWrite && query.returning === undefined);
}
