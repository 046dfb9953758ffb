// Planted faults: each makes the product wrong in one known way, so that a test can show that it would be found.

import type { CompiledQuery, QueryResult } from 'kysely';
import type { Durable } from '../../server/durable/port.ts';
import type { Store, Tx } from '../../server/store/port.ts';
import type { Parts } from '../../server/workflows/engine.ts';
import type { World } from './world.ts';

type Answer = Promise<QueryResult<never>>;

export interface Faults {
  store(store: Store, world: World): Store;
  durable(durable: Durable<Tx>, world: World): Durable<Tx>;
  parts(parts: Parts, world: World): Parts;
  query(query: CompiledQuery, run: () => Promise<QueryResult<unknown>>): Answer;
}

export const noFaults: Faults = {
  store: (store) => store,
  durable: (durable) => durable,
  parts: (parts) => parts,
  query: (_query, run) => run() as Answer,
};

const faults: { readonly [name: string]: () => Faults } = {};

export const faultNames: readonly string[] = Object.keys(faults);

export function faultNamed(name: string | null): Faults {
  return name === null ? noFaults : (faults[name]?.() ?? noFaults);
}
