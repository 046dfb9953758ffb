// How much of each table a run takes: the gate (`npm test`) has what guards a change, the soak (`npm run soak`) everything.
// This is the one place that reads the switches.

const isSoak = process.env['DROVER_TEST_TIER'] === 'soak';

export function sized<T>(gate: T, soak: T): T {
  return isSoak ? soak : gate;
}

/** Of random tests: DROVER_SEED where it is set; otherwise always the same one in the gate, and the clock's in the soak. */
export const testSeed: number = Number(
  process.env['DROVER_SEED'] ?? sized(1, Date.now() % 1_000_000),
);
