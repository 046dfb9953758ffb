// The engine as the body of one workflow has it. A process that stood still may wake in the middle
// of a body that another process has continued long ago: so whatever the body writes, in a step or
// outside of one, commits only while this process still holds the claim.

import { type DurableRun, LostLease } from '../../durable/port.ts';
import type { Store, Tx } from '../../store/port.ts';
import type { Engine } from './engine-ports.ts';

declare const fence: unique symbol;

/** Only `engineOfRun` makes one: no workflow can be given an engine whose writes are not fenced. */
export type EngineOfRun = Engine & { readonly [fence]: true };

export function engineOfRun(engine: Engine, run: DurableRun<Tx>): EngineOfRun {
  const { feed } = engine.store;
  const transaction: Store['transaction'] = async (body) => {
    const result = await run.whileHeld(body);
    feed.poke();
    return result;
  };
  const store: Store = { ...engine.store, transaction };
  const fenced: Engine = {
    ...engine,
    store,
    // On its only machine, the process that has taken over uses the same folders.
    foldersOfMachine: engine.machineId === '' ? transaction : engine.foldersOfMachine,
    // Work that was refused in the background is written by the process that has taken over.
    report: (error, where) => {
      if (!(error instanceof LostLease)) engine.report(error, where);
    },
  };
  return fenced as EngineOfRun;
}
