// Records which machine of a fleet lands on a branch. People can see it, and can ask it to release
// the branch to another machine.

import type { DurableRun } from '../../durable/port.ts';
import type { GitResult } from '../../git/port.ts';
import { beginLander, endLander, readLander, type Tx } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { ownLine } from '../kit/git-trouble.ts';

const lookEveryMs = 1_000;

/** Runs one execution of a landing workflow as the owner of the line. */
export async function asLander<T>(
  engine: Uses<'clock' | 'git' | 'machineId' | 'report' | 'standBack' | 'store'>,
  run: DurableRun<Tx>,
  branch: string,
  body: (own: () => Promise<GitResult<void>>) => Promise<T>,
): Promise<T> {
  const { machineId: machine, store } = engine;
  if (machine === '') return body(await ownLine(engine, branch));
  const role = { branch, machine, workflow: run.workflowId };
  // Recorded first, because the remote may not answer.
  await beginLander(store, role);
  const order = releaseOrder(engine, branch);
  try {
    const landing = ownLine(engine, branch).then(body);
    // A hanging body must not block the line. Its later writes and pushes are refused.
    return await Promise.race([landing, order.given.then(() => Promise.reject(run.handOver()))]);
  } finally {
    order.stop();
    await endLander(store.db, store.sources, role).catch((error: unknown) =>
      engine.report(error, 'recording the end of a landing'),
    );
  }
}

interface ReleaseOrder {
  /** Resolves when a person asks this machine to release the branch. */
  readonly given: Promise<void>;
  readonly stop: () => void;
}

function releaseOrder(
  engine: Uses<'clock' | 'machineId' | 'report' | 'standBack' | 'store'>,
  branch: string,
): ReleaseOrder {
  const given = Promise.withResolvers<void>();
  let callOff = (): void => {};
  let isOver = false;
  const look = async (): Promise<void> => {
    const lander = await readLander(engine.store.db, branch);
    if (isOver) return;
    if (lander?.machine !== engine.machineId || lander.release_order !== 1) return lookLater();
    engine.standBack(branch);
    given.resolve();
  };
  const lookLater = (): void => {
    callOff = engine.clock.timer(lookEveryMs, () => {
      look().catch((error: unknown) => {
        engine.report(error, 'looking for an order to release a branch');
        if (!isOver) lookLater();
      });
    });
  };
  lookLater();
  return {
    given: given.promise,
    stop: () => {
      isOver = true;
      callOff();
    },
  };
}
