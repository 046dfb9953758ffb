// A fleet's database in production setups: a role that may only write rows, and a pooler in
// between.

import assert from 'node:assert/strict';
import { type PgBouncer, startPgBouncer } from '../postgres/pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { run } from '../store-postgres/databases.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized } from '../tier.ts';

const agent = `
cat > /dev/null
echo "work of $id" > "$id.txt"
`;

suite("a fleet's database", function () {
  this.timeout(180_000);
  const project = useProjects({ isEachProcess: true });
  const poolers: PgBouncer[] = [];
  let server: PostgresServer;
  suiteSetup(async () => {
    server = await startPostgres();
  });
  suiteTeardown(async () => {
    for (const pooler of poolers) await pooler.close();
    await server.close();
  });

  test('the role with minimal privileges runs a plan, after prepare and grant', async () => {
    const url = await server.createDatabase('least');
    const role = 'drover_worker';
    await run(url, `create role ${role} login`, 'revoke connect on database least from public');
    const asOwner = { env: { DBOS_SYSTEM_DATABASE_URL: url } };
    const here = project({ agent, env: { DBOS_SYSTEM_DATABASE_URL: server.url('least', role) } });
    await here.expect(0, ['init'], asOwner);
    await run(url, `grant connect on database least to ${role}`);
    const remedy = /drover fleet prepare.*drover fleet grant drover_worker/s;
    const doctor = await here.drover(['doctor']);
    assert.equal(doctor.code, 3);
    assert.match(doctor.stdout, remedy);
    const refused = await here.drover(['run']);
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stderr, remedy);
    await here.expect(0, ['fleet', 'prepare'], asOwner);
    const ungranted = await here.drover(['run']);
    assert.equal(ungranted.code, 3, ungranted.stderr);
    const unknown = await here.drover(['fleet', 'grant', 'nobody_knows'], asOwner);
    assert.equal(unknown.code, 3);
    assert.match(unknown.stderr, /"nobody_knows" does not exist.*CREATE ROLE/s);
    const printed = await here.expect(0, ['fleet', 'grant', role, '--sql'], asOwner);
    assert.match(printed, /GRANT USAGE ON SCHEMA "dbos" TO "drover_worker";/);
    await here.expect(0, ['fleet', 'grant', role], asOwner);
    await here.expect(0, ['doctor']);
    const id = await here.add('Do it');
    await here.expect(0, ['run']);
    assert.equal((await here.json<{ status: string }>(['show', id])).status, 'completed');
    await here.expect(0, ['server', 'stop', '--force']);
  });

  test('a session pooler with its default settings serves a run', async () => {
    await server.createDatabase('pooled');
    const pooler = await startPgBouncer(server.port, 'session');
    poolers.push(pooler);
    const here = project({ agent, env: { DBOS_SYSTEM_DATABASE_URL: pooler.url('pooled') } });
    await here.expect(0, ['init']);
    const id = await here.add('Do it');
    await here.expect(0, ['run']);
    assert.equal((await here.json<{ status: string }>(['show', id])).status, 'completed');
    await here.expect(0, ['server', 'stop', '--force']);
  });

  for (const mode of sized(['transaction'] as const, ['transaction', 'statement'] as const)) {
    test(`a pooler in ${mode} mode is refused, and the setting to change is named`, async () => {
      const name = `shared_${mode}`;
      const direct = await server.createDatabase(name);
      const pooler = await startPgBouncer(server.port, mode);
      poolers.push(pooler);
      const here = project({ agent, env: { DBOS_SYSTEM_DATABASE_URL: pooler.url(name) } });
      await here.expect(0, ['init'], { env: { DBOS_SYSTEM_DATABASE_URL: direct } });
      for (const words of [['doctor'], ['status'], ['run']]) {
        const refused = await here.drover(words);
        assert.equal(refused.code, 3, `${words.join(' ')}: ${refused.stderr}`);
        assert.match(refused.stdout + refused.stderr, /pool_mode = session/);
      }
    });
  }
});
