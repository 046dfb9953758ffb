// `drover doctor` on the URL of a database: the fault, the remedy, and the exit code.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schemaVersion } from '../../server/store/schema/schema.ts';
import { removeFolder } from '../remove-folder.ts';
import { type TestDatabases, testDatabases } from './databases.ts';
import { droverProgram } from '../e2e/support/program.ts';

interface Case {
  readonly name: string;
  readonly url: (databases: TestDatabases) => Promise<string>;
  readonly ok: boolean;
  readonly words: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'an empty one',
    url: ({ create }) => create(),
    ok: true,
    words: ['empty', 'first start', 'PostgreSQL '],
  },
  {
    name: 'ours',
    url: ({ createWithTables }) => createWithTables(),
    ok: true,
    words: [`schema version ${schemaVersion}`],
  },
  {
    name: 'unreachable',
    url: async () => 'postgresql://drover:hidden-word@127.0.0.1:1/x',
    ok: false,
    words: ['No PostgreSQL answers at 127.0.0.1:1', 'Start it'],
  },
  {
    name: 'a missing database',
    url: async ({ server }) => server.url('missing'),
    ok: false,
    words: ['Database "missing" does not exist', 'Create it'],
  },
  {
    name: 'no right to create tables',
    url: async ({ create, run }) => {
      const url = await create();
      await run(url, 'create role looker login', 'revoke create on schema public from public');
      return url.replace('drover@', 'looker:hidden-word@');
    },
    ok: false,
    words: ['"looker" may not create tables', 'CREATE SCHEMA "looker"'],
  },
  {
    name: 'a newer schema',
    url: async ({ createWithTables, run }) => {
      const url = await createWithTables();
      await run(url, 'update drover_schema set version = 999');
      return url;
    },
    ok: false,
    words: ['schema version 999', 'Update Drover'],
  },
];

suite('postgres: drover doctor', function () {
  this.timeout(60_000);

  for (const { name, url, ok, words } of cases) {
    test(name, async () => {
      const given = await url(await testDatabases());
      const folder = mkdtempSync(join(tmpdir(), 'drover-doctor-'));
      mkdirSync(join(folder, '.drover'));
      const ended = spawnSync(process.execPath, [droverProgram(), 'doctor', '--json'], {
        cwd: folder,
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          DBOS_SYSTEM_DATABASE_URL: given,
          DROVER_AGENT_TYPE: 'demo',
        },
      });
      removeFolder(folder);
      assert.equal(ended.status, ok ? 0 : 3, ended.stderr);
      const report = JSON.parse(ended.stdout) as {
        readonly checks: readonly { name: string; ok: boolean; message: string }[];
      };
      const check = report.checks.find((found) => found.name === 'fleet database');
      assert.equal(check?.ok, ok, check?.message);
      for (const word of words) assert.ok(check?.message.includes(word), check?.message);
      assert.ok(!`${ended.stdout}${ended.stderr}`.includes('hidden-word'));
    });
  }
});
