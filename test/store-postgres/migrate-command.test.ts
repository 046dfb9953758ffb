// `drover migrate` as a person uses it: a project goes to PostgreSQL and comes back.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { acquireExclusive } from '../../server/store/sqlite/exclusive.ts';
import { removeFolder } from '../remove-folder.ts';
import { testDatabases } from './databases.ts';

const root = resolve(import.meta.dirname, '../..');

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
    spawnSync(process.execPath, [join(root, 'server/cli/main.ts'), ...words], {
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

  test('there and back; the same project is shown', () =>
    inProject(async (folder, drover) => {
      const { create } = await testDatabases();
      const url = await create();
      for (const title of ['One', 'Two']) assert.equal(drover(['add', title]).status, 0);
      const before = drover(['list', '--json']).stdout;
      const there = drover(['migrate', '--to', url]);
      assert.equal(there.status, 0, there.stderr);
      assert.match(there.stdout, /every table has the same rows and the same hash/);
      assert.match(there.stdout, /tasks: 2 /);
      assert.equal(drover(['list', '--json']).stdout, before);
      const database = join(folder, '.drover', 'drover.db');
      assert.equal(drover(['migrate', '--from'], url).status, 3, 'the file holds it already');
      renameSync(database, `${database}.away`);
      const back = drover(['migrate', '--from', '--json'], url);
      assert.equal(back.status, 0, back.stderr);
      const report = JSON.parse(back.stdout) as { readonly rows: number; readonly to: string };
      assert.equal(report.to, database);
      assert.equal(drover(['list', '--json']).stdout, before);
    }));

  test('refused: no database named, none there, a backend at work', () =>
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
