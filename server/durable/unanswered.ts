// Statements whose answer nobody needs: a database that takes several at once is sent the next one
// without waiting. One that fails undoes its transaction, and the commit tells it.

import type { CompiledQuery, Kysely, RawBuilder } from 'kysely';

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
