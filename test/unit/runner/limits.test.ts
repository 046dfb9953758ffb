// Limits that tests give themselves are at least as long as the runner's.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';
import { jobEnvironment } from '../../runner/run-job.ts';
import { allJobs } from '../../runner/suites.ts';
import { jobNamed } from './jobs.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');

/** Both limits are far below the 200 ms that the test takes. */
const slow = `suite('slow', function () {
  this.timeout(20);
  test('is not wrong', function () {
    this.timeout(30);
    return new Promise((done) => setTimeout(done, 200));
  });
});\n`;

suite('limits of tests', () => {
  test("they grow to the runner's limits for each test, and not without it", () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-limits-'));
    try {
      const file = join(folder, 'slow.test.mjs');
      writeFileSync(file, slow);
      const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
      const limits = join(root, 'test', 'runner', 'limits.mjs');
      const args = [mocha, '--ui', 'tdd', '--require', limits, file];
      const codeWith = (env: Readonly<Record<string, string>>): number | null =>
        spawnSync(process.execPath, args, { cwd: root, env, stdio: 'ignore' }).status;
      assert.deepEqual([codeWith({}), codeWith({ DROVER_TEST_LIMIT_MS: '60000' })], [1, 0]);
    } finally {
      removeFolder(folder);
    }
  });

  test('every mocha job has them, and each job is as patient as the runner', () => {
    const jobs = allJobs().filter(({ counting }) => counting === 'mocha');
    assert.ok(jobs.length > 100);
    for (const { name, args, env } of jobs) {
      assert.ok(args.includes(join(root, 'test', 'runner', 'limits.mjs')), name);
      assert.ok(Number(env['DROVER_TEST_LIMIT_MS']) >= 60_000, name);
    }
    assert.equal(jobEnvironment(jobNamed('a'), '/x', 3)['DROVER_TEST_PATIENCE'], '3');
  });
});
