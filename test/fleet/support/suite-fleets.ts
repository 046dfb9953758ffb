// A suite's fleets: each test creates the ones that it needs, and everything is stopped after it,
// whatever its result.

import { type Fleet, type FleetOptions, makeFleet } from './fleet.ts';

/** Call in a suite; the returned function creates a fleet for the running test. */
export function useFleets(): (options: FleetOptions) => Promise<Fleet> {
  let fleets: Fleet[] = [];
  teardown(async function () {
    const ending = fleets;
    fleets = [];
    const isKept = this.currentTest?.isFailed() === true && process.env['DROVER_E2E_KEEP'] === '1';
    const ends = await Promise.allSettled(ending.map((fleet) => fleet.end(isKept)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });
  return async (options) => {
    const fleet = await makeFleet(options);
    fleets.push(fleet);
    return fleet;
  };
}
