// Who asked for the change that an event describes: the person whose command runs, and the machine
// on which it runs. The engine's own work has no actor.

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';

export interface Actor {
  readonly person: string;
  readonly machine: string;
}

const acting = new AsyncLocalStorage<Actor>();

/** Events that `body` appends name this actor. */
export function actingAs<T>(actor: Actor, body: () => T): T {
  return acting.run(actor, body);
}

/** Events whose actor has this name. An actor is the last part of its event's data. */
export function isBy(name: string): Expression<SqlBool> {
  const quoted = JSON.stringify(name);
  const has = (part: string): RawBuilder<SqlBool> => sql`replace(data, ${part}, '') <> data`;
  const person = has(`"actor":{"person":${quoted},"machine":`);
  const machine = sql`(${has('"actor":{"person":')} and ${has(`,"machine":${quoted}}}`)})`;
  return sql<SqlBool>`(${person} or ${machine})`;
}

export function currentActor(): Actor | null {
  return acting.getStore() ?? null;
}
