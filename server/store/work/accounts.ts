// Provider accounts that have used up their quota.

import type { Reads, Tx } from '../schema/tables.ts';

/** Accounts at their limit, with the time until which they are. */
export async function limitedAccounts(
  db: Reads,
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('accounts')
    .select(['name', 'limited_until_ms'])
    .where('limited_until_ms', '>', nowMs)
    .execute();
  return new Map(rows.map((row) => [row.name, row.limited_until_ms ?? nowMs]));
}

/** The account is at its limit until a time, with this message. */
export async function limitAccount(
  tx: Tx,
  name: string,
  limit: { readonly untilMs: number; readonly message: string },
): Promise<void> {
  const set = { limited_until_ms: limit.untilMs, message: limit.message };
  await tx
    .insertInto('accounts')
    .values({ name, ...set })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(set))
    .execute();
}
