// Reports machine changes in the feed, once for each change: a machine joined, left or died, or
// lost or regained the shared remote. Any machine may detect a change; the stored last reported
// state prevents a second event.

import { sql } from 'kysely';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { Store } from '../port.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import { nowMs } from './machines.ts';

type Reported = 'here' | 'cut_off' | 'dead' | 'left';

interface Change {
  readonly id: string;
  readonly name: string;
  readonly was: Reported;
  readonly is: Reported;
}

/**
 * `knowsDead`: false while all machines may look dead because this one could not reach the
 * database.
 */
export async function reportMachines(
  store: Pick<Store, 'db' | 'sources' | 'transaction'>,
  knowsDead: boolean,
): Promise<void> {
  // A heartbeat without changes must not take the write turn.
  if ((await findChanges(store.db, knowsDead)).length === 0) return;
  await store.transaction((tx) => reportIn(tx, store.sources, knowsDead));
}

async function reportIn(tx: Tx, sources: StoreSources, knowsDead: boolean): Promise<void> {
  for (const change of await findChanges(tx, knowsDead)) {
    const { id, name, is } = change;
    await tx.updateTable('machines').set({ reported: is }).where('id', '=', id).execute();
    for (const type of eventTypes(change))
      await appendEvent(tx, sources, { type, data: { machine: name, machine_id: id } });
  }
}

async function findChanges(db: Reads, knowsDead: boolean): Promise<readonly Change[]> {
  const present = sql<Reported>`case when state = 'left' then 'left'
    when alive_until_ms <= ${nowMs(db)} then 'dead'
    when remote_away_since_ms is not null then 'cut_off' else 'here' end`;
  const rows = await db
    .selectFrom('machines')
    .select(['id', 'name', 'reported'])
    .select(present.as('is'))
    .where(present, '<>', sql<Reported>`reported`)
    // A machine that has left, or that joined before such events existed, cannot die.
    .where((eb) => eb.not(eb.and([eb(present, '=', 'dead'), eb('reported', '=', 'left')])))
    .$if(!knowsDead, (query) => query.where(present, '<>', 'dead'))
    .orderBy('id')
    .execute();
  return rows.map(({ id, name, reported, is }) => ({ id, name, was: reported as Reported, is }));
}

function eventTypes({ was, is }: Change): readonly string[] {
  const wasHere = was === 'here' || was === 'cut_off';
  switch (is) {
    case 'here':
      return [wasHere ? 'machine.reconnected' : 'machine.joined'];
    case 'cut_off':
      return [...(wasHere ? [] : ['machine.joined']), 'machine.cut_off'];
    case 'dead':
      return ['machine.died'];
    case 'left':
      return wasHere ? ['machine.left'] : [];
  }
}
