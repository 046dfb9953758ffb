// Makes snapshots of an attempt's work while its agent runs, and labels the last one after the
// agent has ended.

import type { AgentOutcome } from '../../agents/port.ts';
import type { FailureKind } from '../../core/failure.ts';
import { keepWork, type NumberedAttempt, type KeptNote, type WorkPlace } from './kept-work.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** Returns null if the work is committed next, or if its stop is carried out elsewhere. */
export function keptNoteAfter(outcome: AgentOutcome, isHeld: boolean): KeptNote | null {
  const author = 'agent';
  switch (outcome.kind) {
    case 'done':
      return outcome.blockedReason === undefined ? null : { reason: 'blocked', author };
    case 'stopped':
      return isHeld ? { reason: 'limit', author } : null;
    case 'limited':
      return { reason: 'limit', author };
    case 'failed':
      return { reason: timeoutKinds.has(outcome.failure.kind) ? 'timeout' : 'failed', author };
  }
}

const timeoutKinds: ReadonlySet<FailureKind> = new Set(['timeout', 'agent_stalled']);

/** Time until the first snapshot of a running agent's work, and between later ones. */
interface Pace {
  readonly firstMs: number;
  readonly nextMs: number;
}

const pace: Pace = { firstMs: 20_000, nextMs: 20_000 };

/**
 * If a machine never returns, at most half a minute of work is lost, including the push of the
 * snapshot. The first snapshot is early, because an agent that outlived its backend has had none
 * for a while.
 */
const paceOfFleet: Pace = { firstMs: 5_000, nextMs: 20_000 };

/** Makes snapshots while the agent runs, so that a crash loses at most the last half minute. */
export async function withPeriodicSnapshots<T>(
  engine: Uses<'clock' | 'files' | 'git' | 'machineId' | 'report' | 'store'>,
  attempt: NumberedAttempt,
  place: WorkPlace,
  body: () => Promise<T>,
): Promise<T> {
  let off = (): void => undefined;
  let running: Promise<void> = Promise.resolve();
  const { firstMs, nextMs } = engine.machineId === '' ? pace : paceOfFleet;
  const wait = (delayMs: number): void => {
    off = engine.clock.timer(delayMs, () => {
      running = keepWork(engine, attempt, place, { reason: 'interval', author: 'agent' })
        .catch((error: unknown) => engine.report(error, `keeping the work of ${attempt.taskId}`))
        .then(() => wait(nextMs));
    });
  };
  wait(firstMs);
  try {
    return await body();
  } finally {
    off();
    await running;
    // A snapshot that was still running has set the next timer.
    off();
  }
}
