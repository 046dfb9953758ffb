// docs/testing.md names each test that the gate leaves to the soak, with tests of the gate that
// guard the same behaviour.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../runner/run-job.ts';
import { soakJobs } from '../../runner/soak-plan.ts';
import { allJobs, selectJobs } from '../../runner/suites.ts';
import { soakFiles, soakPlans } from '../../tier.ts';

suite('tiers of tests', () => {
  const all = allJobs();
  const gate = selectJobs(all, []);
  const left = all.filter(({ tier }) => tier === 'soak');
  const shortName = (name: string): string =>
    name.replace(/^test\//, '').replace(/\.test\.ts$/, '');

  test('a soak file exists, is not in the gate, and runs in the soak and by its name', () => {
    const wanted = [...soakFiles, ...[...soakPlans].map((plan) => `in-host ${plan}`)];
    assert.deepEqual(left.map(({ name }) => name).sort(), wanted.sort());
    assert.deepEqual(
      gate.filter(({ tier }) => tier === 'soak'),
      [],
    );
    const soak = new Set(soakJobs(all, 1).map(({ job }) => job.name));
    for (const { name } of left) {
      assert.ok(soak.has(name), name);
      assert.ok(selectJobs(all, [name]).some((job) => job.name === name));
    }
  });

  test('every test file belongs to a job', () => {
    const ran = new Set(all.flatMap(({ args }) => args));
    // The plans of the extension host load these files.
    const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.test.ts') && !/node_modules|^vscode\/in-host\//.test(name),
    );
    assert.deepEqual(
      files.filter((name) => !ran.has(`test/${name}`)),
      [],
    );
  });

  test('a file of a job with several files can run alone, by its name', () => {
    const file = 'test/webview/tree/tree-keys.test.ts';
    const tests = selectJobs(all, [file]).flatMap(({ args }) =>
      args.filter((arg) => arg.endsWith('.test.ts')),
    );
    assert.deepEqual(tests, [file]);
    assert.ok(all.every(({ name }) => name !== file));
  });

  test('each has its row, and its guards are in the gate', () => {
    const text = readFileSync(join(root, 'docs', 'testing.md'), 'utf8');
    const table = text.slice(text.indexOf('| only in the soak |')).split('\n\n')[0] ?? '';
    const rows = new Map(
      table
        .split('\n')
        .slice(2)
        .map((line) => {
          const [, name = '', , guards = ''] = line.split('|');
          const named = [...guards.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
          return [name.replaceAll('`', '').trim(), named] as const;
        }),
    );
    for (const { name } of left) assert.ok(rows.has(shortName(name)), `${name} has no row`);
    const files = gate.flatMap(({ args }) => args.filter((arg) => arg.endsWith('.test.ts')));
    const names = [...gate.map(({ name }) => name), ...files].map(shortName);
    for (const [name, guards] of rows) {
      const isThere = (guard: string): boolean =>
        guard.startsWith('unit/') ||
        names.some((own) => own === guard || own.startsWith(`${guard}/`));
      assert.deepEqual([name, guards.length > 0], [name, true]);
      const known = guards.filter((guard) => guard !== 'bounds');
      assert.deepEqual([name, known.filter((guard) => !isThere(guard))], [name, []]);
    }
  });
});
