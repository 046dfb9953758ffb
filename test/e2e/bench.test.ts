// The benches need only a checkout: each part produces a figure.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { removeFolder } from '../remove-folder.ts';
import { soakTest } from '../tier.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..', '..');

suite('the benches', function () {
  this.timeout(600_000);
  let folder: string;
  setup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-bench-test-')));
  });
  teardown(() => removeFolder(folder));

  async function figuresOf(args: readonly string[]): Promise<Set<string>> {
    mkdirSync(join(folder, 'home'), { recursive: true });
    const all = ['bench/main.ts', ...args, '--brief', '--json', '--tmp', folder];
    const env = { PATH: process.env['PATH'] ?? '', HOME: join(folder, 'home') };
    const { stdout } = await run(process.execPath, all, { cwd: root, env, timeout: 540_000 });
    const figures = stdout.split('\n').filter((line) => line.startsWith('{'));
    return new Set(figures.map((line) => (JSON.parse(line) as { part: string }).part));
  }

  const all = [
    ['store'],
    ['recovery'],
    ['idle', 'streams', 'gates'],
    // These need Chromium, and the published descriptions of GitHub's API.
    ['web'],
    ['forge'],
    ['start', 'memory', 'dispatch', 'pool'],
    ['history', 'failures', 'orchestration', 'snapshots'],
    // These need PostgreSQL and network namespaces.
    ['fleet', 'machines'],
    ['distance'],
    // Each worker is a process.
    ['remote'],
    // This needs bubblewrap and the real Claude Code.
    ['confinement'],
  ];
  for (const parts of all) {
    soakTest(`${parts.join(', ')}`, async () => {
      assert.deepEqual([...(await figuresOf(parts))].sort(), parts.toSorted());
    });
  }

  test('no part of the bench is omitted', async () => {
    const help = run(process.execPath, ['bench/main.ts', '--help'], { cwd: root });
    const { stdout } = (await help.catch((failed: unknown) => failed)) as { stdout: string };
    const [, named = ''] = /^parts: ([\w, ]+) \(/mu.exec(stdout) ?? [];
    assert.deepEqual(named.split(', ').sort(), [...all.flat(), 'against'].sort());
  });

  soakTest('an adapter measures another program', async function () {
    const adapter = join(folder, 'adapter.mjs');
    writeFileSync(
      adapter,
      `export const adapter = {
        prepare: () => [['mkdir', 'made']],
        run: ({ program, titles }) => [program, String(titles.length)],
        environment: () => ({ GIT_CONFIG_NOSYSTEM: '1' }),
      };\n`,
    );
    const program = join(folder, 'other');
    const body =
      'i=0; while [ $i -lt $1 ]; do i=$((i+1)); echo x > made/$i.txt; done\ngit add made\ngit commit -qm all\n';
    writeFileSync(program, `#!/bin/sh\n${body}`, { mode: 0o755 });
    const figures = await figuresOf(['against', '--program', program, '--adapter', adapter]);
    assert.deepEqual([...figures], ['against']);
  });
});
