// A store in memory with a clock that stands still and ids that count, for tests of the store.

import { openStore, type OpenedStore } from '../../../server/store/open.ts';
import type { StoreSources } from '../../../server/store/port.ts';

export interface TestSources extends StoreSources {
  /** Unix milliseconds that the clock shows. */
  nowMs: number;
}

export function testSources(nowMs = 1_800_000_000_000): TestSources {
  let ids = 0;
  let draws = 0;
  const sources: TestSources = {
    nowMs,
    clock: { now: () => sources.nowMs, timer: () => () => undefined },
    uuid: () => `00000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`,
    random: (bytes) => {
      draws += 1;
      const view = new Uint8Array(bytes);
      new DataView(view.buffer).setUint32(0, draws << 8);
      return view;
    },
  };
  return sources;
}

export async function memoryStore(
  sources: TestSources = testSources(),
): Promise<OpenedStore & { readonly sources: TestSources }> {
  return { ...(await openStore(':memory:', sources)), sources };
}
