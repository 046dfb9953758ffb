// Statements whose answers are not needed: the next one is sent without waiting, to a database that
// takes several at once. One that fails undoes its transaction, and the commit reports it. Queries
// that will soon be made are sent ahead, and find their answers when they are made.

import type { Compilable, CompiledQuery, Kysely, RawBuilder } from 'kysely';

const unanswered = new WeakSet<CompiledQuery>();

export async function send<Tables>(
  tx: Kysely<Tables>,
  statement: RawBuilder<unknown>,
): Promise<void> {
  const query = statement.compile(tx);
  unanswered.add(query);
  await tx.executeQuery(query);
}

export const isUnanswered = (query: CompiledQuery): boolean => unanswered.has(query);

/** What each is about; null: nothing that is named. */
const foreseen = new WeakMap<CompiledQuery, string | null>();

/**
 * `about`: the id of the row that all questions ask of, and nothing else. Their answers outlast
 * writes about another such row.
 */
export async function sendAhead<Tables>(
  tx: Kysely<Tables>,
  questions: readonly Compilable[],
  about: string | null,
): Promise<void> {
  for (const question of questions) {
    const query = question.compile();
    foreseen.set(query, about);
    await tx.executeQuery(query);
  }
}

export const isForesight = (query: CompiledQuery): boolean => foreseen.has(query);

export const subjectOf = (query: CompiledQuery): string | null => foreseen.get(query) ?? null;
