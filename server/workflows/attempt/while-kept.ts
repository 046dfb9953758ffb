// Snapshots of an attempt's work while its agent runs, and what its last one is called when the
// agent has ended.

import type { AgentOutcome } from '../../agents/port.ts';
import type { FailureKind } from '../../core/failure.ts';
import { keepWork, type NumberedAttempt, type KeptNote, type WorkPlace } from './kept-work.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** Null: what it has made is committed next, or its stop is carried out elsewhere. */
export function noteOf(outcome: AgentOutcome, isHeld: boolean): KeptNote | null {
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

/** Between two snapshots of what a running agent has made. */
const snapshotMs = 30_000;

/**
 * Snapshots what an agent makes while it runs, so that no death costs more than the last half
 * minute.
 */
export async function whileKept<T>(
  engine: Uses<'clock' | 'files' | 'git' | 'report' | 'store'>,
  attempt: NumberedAttempt,
  place: WorkPlace,
  body: () => Promise<T>,
): Promise<T> {
  let off = (): void => undefined;
  let running: Promise<void> = Promise.resolve();
  const wait = (): void => {
    off = engine.clock.timer(snapshotMs, () => {
      running = keepWork(engine, attempt, place, { reason: 'interval', author: 'agent' })
        .catch((error: unknown) => engine.report(error, `keeping the work of ${attempt.taskId}`))
        .then(() => wait());
    });
  };
  wait();
  try {
    return await body();
  } finally {
    off();
    await running;
    // One that was running has set the next.
    off();
  }
}
