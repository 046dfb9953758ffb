// Target branches that could not follow their landing line are tried again, so that landed work arrives by itself.

import { followLine } from './lines.ts';
import type { Engine } from './parts.ts';

const tryAgainMs = 2_000;

/** Starts looking; returns stop. Costs one small query per look while nothing waits. */
export function keepFollowing(engine: Engine): () => void {
  let stopped = false;
  let off = (): void => {};
  const look = async (): Promise<void> => {
    const waiting = await engine.store.db
      .selectFrom('lines')
      .select('branch')
      .where('pending', '>', 0)
      .execute();
    for (const line of waiting) await followLine(engine, line.branch);
  };
  const again = (): void => {
    if (stopped) return;
    off = engine.clock.timer(tryAgainMs, () => {
      look()
        .catch((error: unknown) => engine.report(error, 'following landed work'))
        .finally(again);
    });
  };
  again();
  return () => {
    stopped = true;
    off();
  };
}
