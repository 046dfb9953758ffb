// The seeded simulation of core and engine: random histories with crashes at any point, all invariants looked at.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const seedsInAll = 2_000;
/** The machine of the tests has two cores. */
const lanes = 2;

suite('simulation', function () {
  this.timeout(2_400_000);

  test(`${seedsInAll} seeds keep every invariant`, async () => {
    const each = seedsInAll / lanes;
    const starts = Array.from({ length: lanes }, (_, lane) => 1 + lane * each);
    await Promise.all(starts.map((from) => simulate(['--seeds', `${each}`, '--from', `${from}`])));
  });
});

/** A failing seed is told with its story: the output is the message. */
async function simulate(args: readonly string[]): Promise<void> {
  const program = join(import.meta.dirname, 'main.ts');
  try {
    await run(process.execPath, [program, ...args], { maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    assert.fail(`${args.join(' ')}\n${(stdout ?? String(error)).slice(-8_000)}\n${stderr ?? ''}`);
  }
}
