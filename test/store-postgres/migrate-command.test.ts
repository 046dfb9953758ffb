// `drover migrate` as a person uses it: a project goes to PostgreSQL and comes back.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireExclusive } from '../../server/store/sqlite/exclusive.ts';
import { grantStatements } from '../../server/durable/fleet/grants.ts';
import { removeFolder } from '../remove-folder.ts';
import { testDatabases } from './databases.ts';
import { droverProgram } from '../e2e/support/program.ts';

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Drover = (words: readonly string[], url?: string) => Ended;

async function inProject(body: (folder: string, drover: Drover) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-migrate-'));
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, DROVER_AGENT_TYPE: 'demo' };
  const git = (...words: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      cwd: folder,
      env,
    });
  const drover: Drover = (words, url) =>
    spawnSync(process.execPath, [droverProgram(), ...words], {
      cwd: folder,
      encoding: 'utf8',
      env: url === undefined ? env : { ...env, DBOS_SYSTEM_DATABASE_URL: url },
    });
  try {
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    assert.equal(drover(['init']).status, 0);
    await body(folder, drover);
  } finally {
    removeFolder(folder);
  }
}

suite('postgres: drover migrate', function () {
  this.timeout(120_000);

  test('a project moves there and back, and looks the same', () =>
    inProject(async (folder, drover) => {
      const { create } = await testDatabases();
      const url = await create();
      for (const title of ['One', 'Two']) assert.equal(drover(['add', title]).status, 0);
      const before = drover(['export', '-f', 'jsonl']).stdout;
      const there = drover(['migrate', '--to', url]);
      assert.equal(there.status, 0, there.stderr);
      assert.match(there.stdout, /every table has the same rows and the same hash/);
      assert.match(there.stdout, /tasks: 2 /);
      const database = join(folder, '.drover', 'drover.db');
      const left = drover(['status']);
      assert.equal(left.status, 3);
      assert.match(left.stderr, /plan is in the fleet's database/);
      assert.equal(drover(['export', '-f', 'jsonl'], url).stdout, before);
      const back = drover(['migrate', '--from', '--json'], url);
      assert.equal(back.status, 0, back.stderr);
      const report = JSON.parse(back.stdout) as { readonly rows: number; readonly to: string };
      assert.equal(report.to, database);
      assert.equal(drover(['export', '-f', 'jsonl']).stdout, before);
    }));

  test('a database that was left refuses commands, which change nothing here', () =>
    inProject(async (folder, drover) => {
      const { create } = await testDatabases();
      const url = await create();
      assert.equal(drover(['add', 'One']).status, 0);
      assert.equal(drover(['migrate', '--to', url]).status, 0);
      assert.equal(drover(['migrate', '--from'], url).status, 0);
      assert.equal(drover(['add', 'Two']).status, 0);
      for (const words of [['status'], ['add', 'Three'], ['worker']]) {
        const refused = drover(words, url);
        assert.equal(refused.status, 3, words.join(' '));
        assert.match(refused.stderr, /was moved from postgresql:.* to .*drover\.db on /);
        assert.match(refused.stderr, /To move it back: drover migrate --to\./);
      }
      const again = drover(['migrate', '--from'], url);
      assert.match(again.stderr, /was moved from postgresql:/);
      const titles = drover(['export', '-f', 'jsonl']).stdout;
      assert.match(titles, /Two/, 'the plan in the file is still the one that counts');
      assert.equal(drover(['migrate', '--to', url]).status, 0);
      assert.match(drover(['export', '-f', 'jsonl'], url).stdout, /Two/);
      removeFolder(join(folder, '.drover', 'fleet'));
      const unnoted = drover(['status']);
      assert.equal(unnoted.status, 3);
      assert.match(
        unnoted.stderr,
        /was moved from .*drover\.db to postgresql:.*drover migrate --from/,
      );
    }));

  test('a command that reads does not join a fleet while this clone has a plan', () =>
    inProject(async (_folder, drover) => {
      const { createWithTables } = await testDatabases();
      assert.equal(drover(['add', 'One']).status, 0);
      assert.equal(drover(['status'], await createWithTables()).status, 0);
      assert.match(drover(['export', '-f', 'jsonl']).stdout, /One/);
    }));

  test("a worker's role cannot move a plan into a database, and is referred to the owner", () =>
    inProject(async (_folder, drover) => {
      const { create, run } = await testDatabases();
      const url = await create();
      assert.equal(drover(['add', 'One']).status, 0);
      assert.equal(drover(['migrate', '--to', url]).status, 0);
      const database = new URL(url).pathname.slice(1);
      const granted = grantStatements({ role: 'mover', database, storeSchema: 'public' });
      await run(
        url,
        'create role mover login',
        ...granted.filter((each) => !/SCHEMA "(?:dbos|drover_durable)"/.test(each)),
      );
      const asWorker = url.replace('drover@', 'mover@');
      assert.equal(drover(['migrate', '--from'], asWorker).status, 0);
      const refused = drover(['migrate', '--to'], asWorker);
      assert.equal(refused.status, 3);
      assert.match(refused.stderr, /Only the owner .* Nothing was moved\. Set DBOS_SYSTEM/);
      assert.match(drover(['export', '-f', 'jsonl']).stdout, /One/);
      assert.equal(drover(['migrate', '--to'], url).status, 0);
    }));

  test('the move is refused without a database, with a missing database, and while a backend runs', () =>
    inProject(async (folder, drover) => {
      const { create } = await testDatabases();
      const url = await create();
      const unnamed = drover(['migrate', '--to']);
      assert.equal(unnamed.status, 3);
      assert.match(unnamed.stderr, /No database to move to is set\. Name it/);
      const nowhere = drover(['migrate', '--to', 'postgresql://a:hidden-word@127.0.0.1:1/x']);
      assert.equal(nowhere.status, 3);
      assert.match(nowhere.stderr, /No PostgreSQL answers at 127\.0\.0\.1:1/);
      assert.ok(!nowhere.stderr.includes('hidden-word'));
      assert.equal(drover(['migrate']).status, 64);
      assert.equal(drover(['migrate', '--to', url, '--from', url]).status, 64);
      const lock = acquireExclusive(join(folder, '.drover', 'backend.lock'));
      const busy = drover(['migrate', '--to', url]);
      lock?.release();
      assert.equal(busy.status, 3);
      assert.match(busy.stderr, /drover server stop/);
    }));
});
