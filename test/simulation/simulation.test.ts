// The seeded simulation of core and engine: random histories with crashes at any point, all invariants looked at.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const seeds = 1_000;
const outputBytesMax = 64 * 1024 * 1024;

suite('simulation', function () {
  this.timeout(2_400_000);

  test(`${seeds} seeds keep every invariant`, async () => {
    const program = join(import.meta.dirname, 'main.ts');
    try {
      await run(process.execPath, [program, '--seeds', `${seeds}`], { maxBuffer: outputBytesMax });
    } catch (error) {
      // A failing seed is told with its story: the output is the message.
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      assert.fail(`${(stdout ?? String(error)).slice(-8_000)}\n${stderr ?? ''}`);
    }
  });
});
