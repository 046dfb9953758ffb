// Who asked for the change that an event describes: the person whose command runs, and the machine
// on which it runs. The engine's own work has no actor.

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';

export interface Actor {
  readonly person: string;
  readonly machine: string;
  /** The browser that it was done in, by the name that its owner gave it. */
  readonly device?: string;
}

const acting = new AsyncLocalStorage<Actor>();
const devices = new AsyncLocalStorage<string>();

/** Events that `body` appends name this actor. */
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

/** Events whose actor has this name. An actor is the last part of its event's data. */
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
