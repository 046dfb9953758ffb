// The fleet adapter in the suite for all adapters, on a real PostgreSQL.

import { describeDurable } from './conformance.ts';
import { closeTestPostgres, fleetHarness, testPostgres } from './fleet-harness.ts';

suite('fleet', () => {
  suiteSetup(() => testPostgres());
  suiteTeardown(() => closeTestPostgres());
  describeDurable('fleet', fleetHarness);
});
