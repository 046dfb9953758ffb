// Two servers for a suite's tests: one accepts writes, and the other one replicates them until it
// is promoted.

import { type PostgresServer, startPostgres } from './server.ts';

export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

/** Starts them before the suite's tests and stops them afterwards; call it in the suite. */
export function usePostgresPair(): () => PostgresPair {
  let pair: PostgresPair | null = null;
  suiteSetup(async () => {
    const primary = await startPostgres();
    pair = { primary, standby: await primary.startStandby() };
  });
  suiteTeardown(async () => {
    await Promise.all([pair?.primary.close(), pair?.standby.close()]);
  });
  return () => {
    if (pair === null) throw new Error('the servers are started before the tests');
    return pair;
  };
}
