// The one way to wait for the effect of a person's request: until a new event or a timeout.

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
