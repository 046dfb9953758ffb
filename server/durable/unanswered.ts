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

const foreseen = new WeakSet<CompiledQuery>();

export async function sendAhead<Tables>(
  tx: Kysely<Tables>,
  questions: readonly Compilable[],
): Promise<void> {
  for (const question of questions) {
    const query = question.compile();
    foreseen.add(query);
    await tx.executeQuery(query);
  }
}

export const isForesight = (query: CompiledQuery): boolean => foreseen.has(query);
