// Planted faults, which show that schedules would detect the loss of each mechanism.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { faultyProgram, plantedFaults } from './faults.ts';
import { play } from './play.ts';
import { drawSchedule } from './schedule.ts';

/** A planted fault must be found within this many schedules. */
const schedulesMax = 200;
const atOnce = 3;

suite('schedules with a planted fault', function () {
  this.timeout(2_400_000);
  let folder: string;
  suiteSetup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-faulty-'));
  });
  suiteTeardown(() => removeFolder(folder));

  for (const [name, { breaks, often, seed }] of Object.entries(plantedFaults)) {
    test(`a fault is found: ${name}`, async () => {
      const program = await faultyProgram(name, folder);
      const seeds = Array.from({ length: schedulesMax }, (_, at) => at + 1);
      if (seed !== undefined) seeds.unshift(...Array.from({ length: atOnce }, () => seed));
      let found: number | null = null;
      const work = async (): Promise<void> => {
        for (let next = seeds.shift(); next !== undefined && found === null; next = seeds.shift()) {
          const { violations } = await play(drawSchedule(next, often), { program });
          if (violations.some((each) => breaks.includes(each.slice(0, each.indexOf(':')))))
            found ??= next;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      assert.notEqual(found, null, `not found within ${schedulesMax} schedules`);
      // The runner prints this line at its end.
      if (found !== seed) {
        const was = `seed ${String(seed)} does not find ${name} any more, seed ${String(found)} does`;
        console.log(`note: ${was}: write it into test/neighbours/faults.ts`);
      }
    });
  }
});
