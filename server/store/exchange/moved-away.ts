// Marks a database whose plan was moved away, by its last event. No event follows it, because only
// a move may use a marked database.

import { type Kysely } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { StoreTables, Tx } from '../schema/tables.ts';

const movedType = 'database.moved';

/** `to`: the new location of the plan, without a password. */
export async function markPlanMoved(tx: Tx, sources: StoreSources, to: string): Promise<void> {
  await appendEvent(tx, sources, { type: movedType, data: { to } });
}

/** Returns the location that the plan was moved to, or null if it is here. */
export async function readMovedTo(db: Kysely<StoreTables>): Promise<string | null> {
  const last = await db
    .selectFrom('events')
    .select(['type', 'data'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last?.type !== movedType) return null;
  const { to } = JSON.parse(last.data) as { readonly to?: unknown };
  return typeof to === 'string' ? to : '';
}

/** @throws Refusal that names the location of the plan, and the command that moves it back */
export async function refuseMovedPlan(
  db: Kysely<StoreTables>,
  from: { readonly shown: string; readonly kind: 'file' | 'fleet' },
): Promise<void> {
  const to = await readMovedTo(db);
  if (to === null) return;
  const [remedy, back] =
    from.kind === 'file'
      ? ['Set DBOS_SYSTEM_DATABASE_URL to it (with its password).', '--from']
      : ['Unset DBOS_SYSTEM_DATABASE_URL to use it.', '--to'];
  throw new Refusal(
    'bad_configuration',
    `This project's plan was moved from ${from.shown} to ${to}. ${remedy} To move it back: drover migrate ${back}.`,
  );
}
