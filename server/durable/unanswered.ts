// Sends statements whose responses are not needed without waiting, if the database accepts several
// at once. A statement that fails aborts its transaction, and the commit reports it. Twelve
// statements of a task that changes nothing are sent this way, which saves 120 ms if the database
// is 10 ms away.

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
