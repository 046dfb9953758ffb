// A worker's role has exactly the rights that `drover fleet grant` gives it, and they suffice for
// its work.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { grantStatements } from '../../server/durable/fleet/grants.ts';
import { claimTask } from '../../server/store/work/claims.ts';
import { addTask } from '../../server/store/plan/tasks.ts';
import { appended, run, testDatabases, withStore } from './databases.ts';
import { isTrouble } from './troubles.ts';

const fleet = readFileSync(resolve(import.meta.dirname, '../../docs/fleet.md'), 'utf8');

/** The block of SQL that contains these words, split into statements. */
function documented(words: string): readonly string[] {
  const block = [...fleet.matchAll(/```sql\n([^`]*)```/g)].find(([, text]) =>
    text?.includes(words),
  );
  return (block?.[1] ?? '')
    .split(';')
    .map((statement) => statement.replace(/--.*$/gm, '').trim())
    .filter((statement) => statement !== '');
}

suite('postgres: privileges', function () {
  this.timeout(60_000);

  test('the role that `drover fleet grant` prepares works, and cannot change tables', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    const name = new URL(url).pathname.slice(1);
    const role = 'drover_worker';
    const granted = grantStatements({ role, database: name, storeSchema: 'public' });
    // The durable engine's schemas are not in this database.
    const statements = granted.filter((each) => !/SCHEMA "(?:dbos|drover_durable)"/.test(each));
    assert.equal(statements.length, 6);
    await run(url, 'revoke create on schema public from public', `create role ${role} login`);
    await run(url, ...statements);
    const asWorker = url.replace('drover@', 'drover_worker@');
    await withStore(asWorker, async ({ store }) => {
      const { sources } = store;
      const { id } = await store.transaction((tx) => addTask(tx, sources, { title: 'One' }));
      const claim = await store.transaction((tx) =>
        claimTask(tx, sources, {
          machine: '',
          taskId: id,
          runId: 'run',
          owner: 'worker',
          agent: 'demo',
          model: null,
          step: 0,
          agentResumes: false,
          plansFirst: false,
          sessionId: 's',
        }),
      );
      assert.equal(claim?.attempt, 1);
      assert.equal((await store.feed.read({})).length, 2);
    });
    for (const statement of [
      'create table mine (id int)',
      'drop table tasks',
      'alter table tasks add column more text',
      'drop trigger number_event on events',
      'truncate events',
    ])
      await assert.rejects(run(asWorker, statement), /must be owner|permission denied/, statement);
  });

  test('it cannot upgrade the tables, and the message names who can', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await run(
      url,
      'create role late_worker login',
      'revoke create on schema public from public',
      'grant select on all tables in schema public to late_worker',
      'update drover_schema set version = 2',
    );
    await assert.rejects(
      withStore(url.replace('drover@', 'late_worker@'), async () => undefined),
      isTrouble('forbidden', '"late_worker"', 'may not create tables'),
    );
  });

  test('the documented owner of a separate database works', async () => {
    const databases = await testDatabases();
    const admin = databases.server.url('postgres');
    const statements = documented('CREATE DATABASE drover').map((statement) =>
      statement.replace(/\bdrover\b/g, 'lone_owner'),
    );
    assert.equal(statements.length, 3);
    await run(admin, ...statements);
    const url = databases.server.url('lone_owner', 'lone_owner');
    await withStore(url, async ({ store }) => {
      assert.equal(await appended(store, { type: 'news' }), 1);
    });
    await run(admin, 'create role other login');
    await assert.rejects(
      withStore(databases.server.url('lone_owner', 'other'), async () => undefined),
      isTrouble('forbidden', '"other"'),
    );
  });
});
