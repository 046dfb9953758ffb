// How long tests wait for an event, as a factor: time limits are written for an idle machine. The
// runner sets it (`npm test -- --patience N`), so that a loaded machine makes a test slow, but not
// red.

export const patience: number = Number(process.env['DROVER_TEST_PATIENCE'] ?? '1');
