// The actor of an event: the person whose command caused the change, and the machine on which it
// runs. Changes by the engine have no actor.

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';

export interface Actor {
  readonly person: string;
  readonly machine: string;
  /** The browser from which it was requested, by its user-given name. */
  readonly device?: string;
}

const acting = new AsyncLocalStorage<Actor>();
const devices = new AsyncLocalStorage<string>();

/** Events that `body` appends get this actor. */
export function actingAs<T>(actor: Actor, body: () => T): T {
  return acting.run(actor, body);
}

/** Attributes the requests of `body` to this browser. */
export function onDevice<T>(name: string, body: () => T): T {
  return devices.run(name, body);
}

export function currentDevice(): string | null {
  return devices.getStore() ?? null;
}

/** Matches events whose actor has this name. The actor is the last part of an event's data. */
export function isByActor(name: string): Expression<SqlBool> {
  const quoted = JSON.stringify(name);
  const has = (part: string): RawBuilder<SqlBool> => sql`replace(data, ${part}, '') <> data`;
  const person = has(`"actor":{"person":${quoted},"machine":`);
  const isLast = has(`,"machine":${quoted}}}`);
  const machine = sql`(${isLast} or ${has(`,"machine":${quoted},"device":`)})`;
  const others = sql`(${machine} or ${has(`,"device":${quoted}}}`)})`;
  return sql<SqlBool>`(${person} or (${has('"actor":{"person":')} and ${others}))`;
}

export function currentActor(): Actor | null {
  return acting.getStore() ?? null;
}
