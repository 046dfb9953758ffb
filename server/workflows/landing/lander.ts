// The machine of a fleet that lands on a branch: recorded while it does, so that people can see who
// lands and since when.

import type { DurableRun } from '../../durable/port.ts';
import type { GitResult } from '../../git/port.ts';
import { beginLander, endLander, type Tx } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { ownLine } from '../kit/git-trouble.ts';

/** Runs one execution of a landing workflow as the owner of the line. */
export async function asLander<T>(
  engine: Uses<'git' | 'machineId' | 'report' | 'store'>,
  run: DurableRun<Tx>,
  branch: string,
  body: (own: () => Promise<GitResult<void>>) => Promise<T>,
): Promise<T> {
  const { machineId: machine, store } = engine;
  if (machine === '') return body(await ownLine(engine, branch));
  const role = { branch, machine, workflow: run.workflowId };
  // Before the remote is asked, which may not answer.
  await beginLander(store, role);
  try {
    return await body(await ownLine(engine, branch));
  } finally {
    await endLander(store.db, store.sources, role).catch((error: unknown) =>
      engine.report(error, 'recording the end of a landing'),
    );
  }
}
