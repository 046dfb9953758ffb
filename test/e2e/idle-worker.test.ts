// The queries that an idle worker of a fleet sends to the shared database, counted by PostgreSQL
// itself.

import assert from 'node:assert/strict';
import {
  countStatements,
  makeCountable,
  type StatementCount,
  type StatementCounter,
} from '../postgres/statements.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { eventually } from './support/eventually.ts';
import { useProjects } from './support/suite-projects.ts';

const perSecondMax = 8;
/** Number of the machine's heartbeats during a count: one per 2.5 s. */
const beatsCounted = 4;
const heartbeat = /insert into "machines"/;

suite('an idle worker', function () {
  this.timeout(180_000);
  const makeOne = useProjects();
  let server: PostgresServer;
  suiteSetup(async () => {
    server = await startPostgres();
    await makeCountable(server);
  });
  suiteTeardown(() => server.close());

  test(`it sends at most ${perSecondMax} statements a second`, async () => {
    const url = await server.createDatabase('idle');
    const here = makeOne({ env: { DBOS_SYSTEM_DATABASE_URL: url } });
    await here.expect(0, ['init']);
    const worker = here.start(['worker', '--json']);
    const counter = await countStatements(url);
    try {
      await worker.line((text) => text.includes('"ready"'));
      await beats(counter, 1); // The queries of its start are over.
      const count = await beats(counter, beatsCounted);
      const sent = count.statements.reduce((sum, { calls }) => sum + calls, 0);
      const perSecond = sent / count.seconds;
      assert.ok(perSecond <= perSecondMax, `${perSecond.toFixed(1)} a second:\n${listed(count)}`);
    } finally {
      await counter.close();
      worker.signal('SIGTERM');
      await worker.ended;
    }
  });
});

async function beats(counter: StatementCounter, count: number): Promise<StatementCount> {
  await counter.restart();
  return eventually(`${count} heartbeats`, async () => {
    const seen = await counter.read();
    const beat = seen.statements.find(({ text }) => heartbeat.test(text));
    return (beat?.calls ?? 0) >= count && seen;
  });
}

function listed({ seconds, statements }: StatementCount): string {
  return statements
    .map(({ text, calls }) => `${(calls / seconds).toFixed(2)} ${text.replaceAll(/\s+/g, ' ')}`)
    .join('\n');
}
