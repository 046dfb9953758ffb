// How long tests wait for what has to happen, as a factor: limits are written for a machine that does nothing else. The runner
// sets it (`npm test -- --patience N`), so that a loaded machine makes a test slow, but not red.

export const patience: number = Number(process.env['DROVER_TEST_PATIENCE'] ?? '1');
