// The seeded simulation of core and engine: random histories with crashes at any point, all invariants looked at; and
// planted faults, to show that each would be found.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { plantedFaults } from './faults.ts';
import { runSeed } from './run-seed.ts';

const run = promisify(execFile);
const seeds = 2_000;
/** A planted fault has to be found within so many seeds. */
const seedsForFault = 400;
const outputBytesMax = 64 * 1024 * 1024;

suite('simulation', function () {
  this.timeout(2_400_000);

  test(`${seeds} seeds keep every invariant`, async () => {
    const half = seeds / 2;
    const both = [1, half + 1].map((from) => simulate(['--seeds', `${half}`, '--from', `${from}`]));
    for (const { code, output } of await Promise.all(both)) {
      // A failing seed is told with its story: the output is the message.
      assert.equal(code, 0, output.slice(-8_000));
    }
  });

  for (const seed of [1, 7, 16, 38, 193]) {
    test(`seed ${seed} gives the same history again`, async () => {
      const [one, two] = [await runSeed(seed), await runSeed(seed)];
      assert.equal(one.feedHash, two.feedHash);
      assert.equal(one.simulatedMs, two.simulatedMs);
    });
  }

  for (const [name, { breaks }] of Object.entries(plantedFaults)) {
    test(`a fault is found: ${name}`, async () => {
      const { output } = await simulate(['--seeds', `${seedsForFault}`, '--fault', name]);
      const found = /^seed \d+ breaks \[([a-z-]+)\]/m.exec(output)?.[1];
      assert.ok(found !== undefined, output.slice(-500));
      assert.ok(
        (breaks as readonly string[]).includes(found),
        `${found} is broken instead of ${breaks.join(', ')}`,
      );
    });
  }
});

async function simulate(args: readonly string[]): Promise<{ code: number; output: string }> {
  const program = join(import.meta.dirname, 'main.ts');
  try {
    const { stdout } = await run(process.execPath, [program, ...args], {
      maxBuffer: outputBytesMax,
    });
    return { code: 0, output: stdout };
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return { code: 1, output: `${stdout ?? String(error)}\n${stderr ?? ''}` };
  }
}
