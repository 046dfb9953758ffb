// Ends an attempt that was stopped because of a budget or a loop. If its own budget is used up, a
// person must decide; if that of its epic or of the day is used up, it continues when that budget
// allows.

import { failure } from '../../core/failure.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { Claim, Tx } from '../../store/port.ts';
import { releaseWithoutAttempt, recordFailure } from './attempt-ends.ts';
import type { WatchStop } from './budget-watch.ts';
import type { Engine } from '../kit/engine-ports.ts';
import { isStopRequested, settleStop } from './stops.ts';

export async function endAtBudget(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  stop: WatchStop,
): Promise<string> {
  if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
  switch (stop.scope) {
    case 'task':
    case 'loop':
      await run.commit('budget_used', (tx) =>
        recordFailure(engine, tx, claim, failure('budget_used', stop.sentence)),
      );
      return 'failed';
    case 'epic':
    case 'day':
      await run.commit('budget_held', (tx) =>
        releaseWithoutAttempt(engine, tx, claim, stop.sentence),
      );
      return 'stopped';
  }
}
