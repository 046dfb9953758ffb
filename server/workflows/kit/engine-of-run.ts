// The engine as passed to the body of one workflow. A process that was suspended may wake inside a
// body that another process has continued since. Therefore every write of the body, inside or
// outside of a step, commits only while this process still holds the claim.

import { type DurableRun, LostLease } from '../../durable/port.ts';
import type { Store, Tx } from '../../store/port.ts';
import type { Engine } from './engine-ports.ts';

declare const fence: unique symbol;

/**
 * Only `engineOfRun` creates this type, so no workflow can get an engine whose writes are not
 * fenced.
 */
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
    // If this is the only machine, a process that took over uses the same folders.
    foldersOfMachine: engine.machineId === '' ? transaction : engine.foldersOfMachine,
    // After a takeover, the other process writes this background work.
    report: (error, where) => {
      if (!(error instanceof LostLease)) engine.report(error, where);
    },
  };
  return fenced as EngineOfRun;
}
