// A turn in few round trips: what needs no answer is sent and not waited for, and nothing is asked
// twice.
//
// While a machine has its turn, all others wait, so its distance to the database counts for the
// whole fleet. The beginning, writes that return nothing, and the commit travel behind each other;
// only reads are waited for. PostgreSQL refuses all that follows a statement that failed, so the
// commit tells of every failure before it.
//
// No other transaction writes during a turn, so the answer to a query stays valid until the turn
// itself writes.

import {
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  InsertQueryNode,
  type QueryResult,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
} from 'kysely';
import { isForesight, isUnanswered, subjectOf } from '../../durable/unanswered.ts';
import { transactionIsOver } from '../schema/dialect.ts';

type Options = Parameters<DatabaseConnection['executeQuery']>[1];

export class TurnConnection<Inner extends DatabaseConnection> implements DatabaseConnection {
  /** What Kysely's own driver made; it knows how to release it. */
  readonly inner: Inner;
  #turn: Turn | null = null;
  #isOver = false;

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
    this.end();
    await (turn === null ? commit() : turn.told(commit()));
  }

  /**
   * Its end is on its way: what a body that was left behind sends from now on, as a sibling of the
   * one that failed, would be committed by itself.
   */
  end(): void {
    this.#turn = null;
    this.#isOver = true;
  }

  /** For the next one that uses the connection. */
  renew(): void {
    this.#turn = null;
    this.#isOver = false;
  }

  executeQuery<R>(query: CompiledQuery, options?: Options): Promise<QueryResult<R>> {
    if (this.#isOver) return Promise.reject(new Error(transactionIsOver));
    if (this.#turn === null) return this.inner.executeQuery<R>(query, options);
    if (isForesight(query)) return this.#foresee(this.#turn, query);
    if (!isWithoutAnswer(query)) return this.#ask<R>(this.#turn, query, options);
    this.#turn.forgetAnswers(query);
    this.#send(this.#turn, query, options);
    return this.#turn.failed === null
      ? Promise.resolve({ rows: [] })
      : Promise.reject(this.#turn.failed);
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number, options?: Options) {
    return this.inner.streamQuery<R>(query, chunkSize, options);
  }

  async #ask<R>(turn: Turn, query: CompiledQuery, options?: Options): Promise<QueryResult<R>> {
    if (!SelectQueryNode.is(query.query)) {
      turn.forgetAnswers(query);
      return turn.told(this.inner.executeQuery<R>(query, options));
    }
    const { rows } = await turn.answerTo<R>(query, () =>
      this.inner.executeQuery<R>(query, options),
    );
    // The caller may change its rows.
    return { rows: rows.map((row) => ({ ...row })) };
  }

  async #foresee<R>(turn: Turn, query: CompiledQuery): Promise<QueryResult<R>> {
    const ask = (): Promise<QueryResult<R>> => this.inner.executeQuery<R>(query);
    turn.answerTo(query, ask, subjectOf(query)).catch(() => undefined);
    return { rows: [] };
  }

  #send(turn: Turn, query: CompiledQuery, options?: Options): void {
    this.inner.executeQuery(query, options).catch((error: unknown) => turn.fail(error));
  }
}

interface Answer {
  readonly rows: Promise<QueryResult<unknown>>;
  /** The id of the row that it is about; null: of many, or unknown. */
  readonly about: string | null;
}

class Turn {
  failed: Error | null = null;
  readonly #answers = new Map<string, Answer>();
  readonly #subjects = new Set<string>();

  answerTo<R>(
    query: CompiledQuery,
    ask: () => Promise<QueryResult<R>>,
    about: string | null = null,
  ): Promise<QueryResult<R>> {
    const question = JSON.stringify([query.sql, query.parameters]);
    const known = this.#answers.get(question);
    if (known !== undefined) return known.rows as Promise<QueryResult<R>>;
    const rows = this.told(ask());
    if (about !== null) this.#subjects.add(about);
    this.#answers.set(question, { rows, about });
    return rows;
  }

  /** A write to one table leaves the answers that do not name it, nor what triggers write. */
  forgetAnswers(compiled: CompiledQuery): void {
    // Of the durable engine, whose tables the store does not read.
    if (isUnanswered(compiled)) return;
    const table = tableOf(compiled.query);
    if (table === null) return this.#answers.clear();
    const written = this.#subjectsIn(compiled);
    for (const [question, { about }] of this.#answers) {
      if (!question.includes(table) && !question.includes('past')) continue;
      // The write names one row that was asked of, and this is the answer about another.
      if (about !== null && written.length > 0 && !written.includes(about)) continue;
      this.#answers.delete(question);
    }
  }

  #subjectsIn({ parameters }: CompiledQuery): readonly unknown[] {
    return parameters.filter((value) => typeof value === 'string' && this.#subjects.has(value));
  }

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

/** Null: it may change anything (what is deleted takes rows of other tables along). */
function tableOf(query: CompiledQuery['query']): string | null {
  const table = InsertQueryNode.is(query)
    ? query.into
    : UpdateQueryNode.is(query)
      ? query.table
      : null;
  return table !== null && table !== undefined && TableNode.is(table)
    ? table.table.identifier.name
    : null;
}

/**
 * Such a write does not report how many rows it changed; a caller that needs the number uses
 * RETURNING (`test/architecture.test.ts` checks that).
 */
function isWithoutAnswer(compiled: CompiledQuery): boolean {
  const { query } = compiled;
  const isWrite =
    InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query);
  return isUnanswered(compiled) || (isWrite && query.returning === undefined);
}
