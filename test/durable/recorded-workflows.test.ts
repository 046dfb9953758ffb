// Workflows as an older release has left them in both databases, continued by today's code.
//
// The rows are written out here, not made by the code under test: they equal those stored by a
// release of compatibility number `drover-1`. When this test fails after a change, running work of
// users would be lost as well.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import { removeFolder } from '../remove-folder.ts';
import type { DurableHarness, OpenTestStore } from './harness.ts';
import { embeddedHarness, openTestDatabase } from './embedded-harness.ts';
import { closeTestPostgres, fleetHarness, testPostgres } from './fleet-harness.ts';
import { openFleet } from '../../server/durable/fleet/open.ts';

const created = 1_790_000_000_000;

/**
 * A workflow that waits, one whose process died after two steps, one that was cancelled after the
 * first step, and one that has ended.
 */
const leftOnSqlite: readonly string[] = [
  `insert into workflows (id, name, queue, priority, input, state, owner, epoch, lease_expires_at, created_at, updated_at)
   values
    ('waits', 'build', 'q', 0, '{"n":1}', 'pending', null, 0, null, ${created}, ${created}),
    ('died', 'build', 'q', 0, '{"n":2}', 'running', '1:gone.1:abc', 1, ${created}, ${created}, ${created}),
    ('stopped', 'build', 'q', 0, '{"n":3}', 'cancelled', null, 1, null, ${created}, ${created})`,
  `insert into workflows (id, name, queue, priority, input, state, result, epoch, created_at, updated_at)
   values ('ended', 'build', 'q', 0, '{"n":4}', 'succeeded', '["old"]', 1, ${created}, ${created})`,
  `insert into workflow_steps (workflow_id, name, output, created_at) values
    ('died', 'prepare', '"prepared 2"', ${created}), ('died', 'work', null, ${created}),
    ('stopped', 'prepare', '"prepared 3"', ${created})`,
];

const leftOnPostgres: readonly string[] = [
  `insert into dbos.workflow_status (workflow_uuid, status, name, queue_name, priority, created_at, updated_at,
     recovery_attempts, application_version, application_id, application_name, executor_id, owner_xid, serialization,
     authenticated_user, assumed_role, authenticated_roles)
   select id, status, 'build', 'q', 1000000000, ${created}, ${created}, attempts, 'drover-1', '', 'drover', executor, token,
     'portable_json', '', '', '[]'
   from (values ('waits', 'ENQUEUED', 0, '', null), ('died', 'PENDING', 1, '1:gone.1:abc', 'token'),
     ('stopped', 'CANCELLED', 1, '1:gone.1:abc', null), ('ended', 'SUCCESS', 1, '1:gone.1:abc', null))
     as left_behind (id, status, attempts, executor, token)`,
  `insert into dbos.workflow_input (workflow_uuid, inputs) values
    ('waits', '{"positionalArgs":[{"n":1}]}'), ('died', '{"positionalArgs":[{"n":2}]}'),
    ('stopped', '{"positionalArgs":[{"n":3}]}'), ('ended', '{"positionalArgs":[{"n":4}]}')`,
  `insert into dbos.workflow_output (workflow_uuid, output) values ('ended', '["old"]')`,
  `insert into drover_durable.steps (workflow_id, name, output) values
    ('died', 'prepare', '"prepared 2"'), ('died', 'work', null), ('stopped', 'prepare', '"prepared 3"')`,
];

async function run<Tables>(db: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

async function leaveOnSqlite(location: string): Promise<void> {
  const database = await openTestDatabase(location);
  await run(database.db, leftOnSqlite);
  await database.close();
}

async function leaveOnPostgres(location: string): Promise<void> {
  const fleet = await openFleet({ url: location, prepare: false });
  await run(fleet.db, leftOnPostgres);
  await fleet.close();
}

/** Today's workflow: a step is inserted before the others, and `work` follows a new one. */
function registerToday<Tx>({ durable }: OpenTestStore<Tx>, ran: string[]): void {
  durable.workflow('build', async (running, input: { n: number }) => {
    const step = (name: string): Promise<string> =>
      running.step(name, async () => {
        ran.push(`${running.workflowId} ${name}`);
        return `${name} ${input.n} today`;
      });
    const said = [await step('look'), await step('prepare'), await step('check')];
    await step('work');
    return said;
  });
}

async function takesUp<Tx>(
  harness: DurableHarness<Tx>,
  leave: (location: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-recorded-'));
  const location = await harness.createStore(folder);
  await leave(location);
  const store = await harness.open(location);
  const ran: string[] = [];
  try {
    const { durable } = store;
    registerToday(store, ran);
    await durable.launch();
    assert.deepEqual(
      [(await durable.wait('waits')).result, (await durable.wait('died')).result],
      [
        ['look 1 today', 'prepare 1 today', 'check 1 today'],
        ['look 2 today', 'prepared 2', 'check 2 today'],
      ],
    );
    assert.equal((await durable.get('stopped'))?.state, 'cancelled');
    assert.deepEqual((await durable.get('ended'))?.result, ['old']);
    await durable.resume('stopped');
    assert.deepEqual((await durable.wait('stopped')).result, [
      'look 3 today',
      'prepared 3',
      'check 3 today',
    ]);
    assert.deepEqual(
      ran.filter((line) => line.startsWith('died')),
      ['died look', 'died check'],
    );
  } finally {
    await store.close();
    await harness.dropStore(location);
    removeFolder(folder);
  }
}

suite('recorded workflows of an older release', () => {
  suiteSetup(() => testPostgres());
  suiteTeardown(() => closeTestPostgres());

  test('embedded', () => takesUp(embeddedHarness, leaveOnSqlite));
  test('fleet', () => takesUp(fleetHarness, leaveOnPostgres));
});
