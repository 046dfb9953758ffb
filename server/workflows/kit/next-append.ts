// The one way in which a person's request waits: until something has happened, or a moment.

import type { Engine } from './engine-ports.ts';

export async function nextAppend(
  { store, clock }: Pick<Engine, 'store' | 'clock'>,
  mostMs: number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      off();
      offTimer();
      resolve();
    };
    const off = store.feed.onAppend(finish);
    const offTimer = clock.timer(mostMs, finish);
  });
}
