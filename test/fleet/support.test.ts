// The basis of the fleet's tests: machines that reach the database and the remote, lose their
// network silently, die completely, and leave nothing behind.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '../e2e/support/eventually.ts';
import { processesOf } from '../e2e/support/processes.ts';
import type { RunningProgram } from '../e2e/support/run-program.ts';
import { makeFleet } from './support/fleet.ts';
import type { Machine } from './support/machine.ts';
import { whyNoNamespaces } from './support/network.ts';
import { useFleets } from './support/suite-fleets.ts';

const pgModule = fileURLToPath(import.meta.resolve('pg'));
const options = { machines: ['one', 'two'], agent: 'true', settings: '# defaults\n' };
const how = whyNoNamespaces() === null ? 'network namespaces' : 'plain processes';

/**
 * Queries the database repeatedly over one connection; prints its backend's number with each
 * answer.
 */
const askingScript = `
import pg from ${JSON.stringify(pgModule)};
const client = new pg.Client({ connectionString: process.env.DBOS_SYSTEM_DATABASE_URL });
client.on('error', (error) => { console.log('error ' + error.message); process.exit(1); });
await client.connect();
for (;;) {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid, host(inet_client_addr()) AS address');
  console.log(rows[0].pid + ' ' + rows[0].address);
  await new Promise((resolve) => setTimeout(resolve, 20));
}`;

function startAsking(machine: Machine): RunningProgram {
  const args = ['--input-type=module', '-e', askingScript];
  return machine.launch(process.execPath, args, {}, machine.folder, 60_000);
}

async function nextLine(program: RunningProgram): Promise<string> {
  const before = program.lineCount();
  let seen = 0;
  return program.line(() => {
    seen += 1;
    return seen > before;
  });
}

suite(`a fleet's machines (${how})`, function () {
  this.timeout(120_000);
  const fleet = useFleets();

  test('they reach the database and the remote from their own addresses', async () => {
    const here = await fleet(options);
    for (const machine of here.machines) {
      const asking = startAsking(machine);
      const line = await asking.line(() => true);
      const isSeen = here.network.kind === 'namespaces';
      assert.equal(line.split(' ')[1], isSeen ? machine.host.address : '127.0.0.1');
      const pushed = await machine.run('git', [
        '-C',
        'repo',
        'push',
        '-q',
        'origin',
        `HEAD:refs/heads/${machine.name}`,
      ]);
      assert.equal(pushed.code, 0, pushed.stderr);
    }
    const branches = here.gitServer.git('for-each-ref', '--format=%(refname:short)', 'refs/heads');
    assert.deepEqual(branches.split('\n'), ['main', 'one', 'two']);
    if (here.network.kind === 'processes') return;
    const routes = await here.machine('one').run('ip', ['route']);
    assert.doesNotMatch(routes.stdout, /default/);
    const [one, two] = here.machines.map(({ host }) => host.address);
    assert.notEqual(one, two);
  });

  test('they are refused with a wrong password', async () => {
    const here = await fleet(options);
    const machine = here.machine('one');
    const wrong = here.databaseUrl.replace(/:[^:@]*@/, ':wrong@');
    const args = ['--input-type=module', '-e', askingScript];
    const env = { DBOS_SYSTEM_DATABASE_URL: wrong };
    const done = await machine.launch(process.execPath, args, env, machine.folder, 60_000).ended;
    assert.notEqual(done.code, 0);
    assert.match(done.stderr, /password authentication failed/);
  });

  test('they lose their network silently, and restore their connections', async () => {
    const here = await fleet(options);
    const [one, two] = [here.machine('one'), here.machine('two')];
    const [cut, other] = [startAsking(one), startAsking(two)];
    const first = await nextLine(cut);
    await nextLine(other);
    one.host.cutOff();
    // Messages in flight may still arrive; after that, nothing more arrives, however often the
    // other one is answered.
    await eventually('no answer in twenty turns', async () => {
      const before = cut.lineCount();
      for (let n = 0; n < 20; n += 1) await nextLine(other);
      return cut.lineCount() === before;
    });
    if (here.network.kind === 'namespaces') {
      const args = ['-C', 'repo', 'ls-remote', 'origin'];
      const git = await one.run('timeout', ['2', 'git', ...args]);
      assert.notEqual(git.code, 0);
      assert.doesNotMatch(git.stderr, /refused/i);
    }
    one.host.reconnect();
    assert.equal(await nextLine(cut), first);
  });

  test('they die completely, including processes that left their group, and start again', async () => {
    const here = await fleet(options);
    const machine = here.machine('one');
    const script = 'setsid sleep 1000 & (sleep 1000 &) ; echo started; sleep 1000';
    const program = machine.launch('/bin/sh', ['-c', script], {}, machine.folder, 60_000);
    await program.line((line) => line === 'started');
    await eventually('all run', () => machine.host.processes().length >= 4);
    await machine.kill();
    assert.deepEqual(machine.host.processes(), []);
    assert.deepEqual(
      processesOf(machine.folder).filter(({ what }) => what.includes('1000')),
      [],
    );
    const again = await machine.run('hostname', []);
    assert.equal(again.code, 0);
    if (here.network.kind === 'namespaces') assert.equal(again.stdout.trim(), 'one');
  });

  for (const way of ['fast', 'kill'] as const) {
    test(`they see PostgreSQL restart (${way})`, async () => {
      const here = await fleet(options);
      const asking = startAsking(here.machine('one'));
      await nextLine(asking);
      await here.query('CREATE TABLE kept (n integer)');
      await here.query('INSERT INTO kept VALUES (1)');
      await here.restartPostgres(way);
      const done = await asking.ended;
      assert.equal(done.code, 1);
      assert.deepEqual(await here.query('SELECT n FROM kept'), [{ n: 1 }]);
    });
  }

  test('a pusher is killed between its push and the answer, once', async () => {
    const here = await fleet(options);
    const machine = here.machine('two');
    let landing: RunningProgram | null = null;
    const killed = here.gitServer.atNextLanding(() => {
      const pid = landing === null ? null : machine.processOf(landing);
      return pid !== null && process.kill(pid, 'SIGKILL');
    });
    const push = (ref: string): RunningProgram =>
      machine.launch('git', ['push', '-q', 'origin', `HEAD:${ref}`], {}, machine.root, 60_000);
    const other = await push('refs/heads/other').ended;
    assert.equal(other.code, 0);
    landing = push('refs/drover/land/main');
    assert.equal(await killed, machine.host.address);
    assert.notEqual((await landing.ended).code, 0);
    const landed = here.gitServer.git('rev-parse', 'refs/drover/land/main');
    assert.equal(landed, machine.git('rev-parse', 'HEAD'));
    assert.equal((await push('refs/drover/land/next').ended).code, 0);
  });
});

suite("the end of a test's fleet", function () {
  this.timeout(120_000);

  for (const isPlain of [false, true]) {
    test(`it leaves nothing behind (${isPlain ? 'plain processes' : how})`, async () => {
      const here = await makeFleet({ ...options, isPlain });
      const machine = here.machine('one');
      const program = machine.launch('sleep', ['1000'], {}, machine.folder, 60_000);
      await eventually('it runs', () => processesOf(here.folder).length > 0);
      machine.host.cutOff();
      await here.end(false);
      await program.ended;
      assert.equal(existsSync(here.folder), false);
      assert.deepEqual(traces(process.pid), []);
    });
  }

  test('the next test removes the leftovers of a killed test', async () => {
    const script = `
import { makeNetwork } from ${JSON.stringify(new URL('support/network.ts', import.meta.url).href)};
const network = await makeNetwork();
await network.addHost('left', 'LEFT=1');
console.log('up');
setInterval(() => undefined, 1000);`;
    const env = { PATH: process.env['PATH'] ?? '' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) if (line === 'up') break;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const next = await makeFleet(options);
    const left = traces(child.pid ?? 0);
    await next.end(false);
    assert.deepEqual(left, []);
  });
});

/** Namespaces and bridges that the process has created. */
function traces(pid: number): readonly string[] {
  if (whyNoNamespaces() !== null) return [];
  const list = (...args: readonly string[]): readonly string[] =>
    execFileSync('ip', args, { encoding: 'utf8' }).split('\n');
  return [...list('netns', 'list'), ...list('link', 'show')].filter((line) =>
    line.includes(`drover-${pid}`),
  );
}
