// A person, agents and the engine act in parallel, at random times, and no work is lost.

import assert from 'node:assert/strict';
import { sized, testSeed } from '../tier.ts';
import { play } from './play.ts';
import { drawSchedule } from './schedule.ts';

/** In the soak, each job has this many schedules, starting at its seed. */
export const schedulesPerJob = 25;

const count = sized(6, schedulesPerJob);
const first = sized(1, testSeed * schedulesPerJob);
const atOnce = 3;

suite('people, agents and other programs', function () {
  this.timeout(1_800_000);

  test(`${count} schedules from ${first} lose nothing and use no attempt for another's fault`, async () => {
    const failed: string[] = [];
    let next = first;
    const work = async (): Promise<void> => {
      while (next < first + count) {
        const seed = next;
        next += 1;
        const { violations, story } = await play(drawSchedule(seed));
        if (violations.length === 0) continue;
        const again = `node test/neighbours/main.ts --shrink --from ${seed}`;
        failed.push(`${story.join('\n')}\n${violations.join('\n')}\nAgain: ${again}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    assert.deepEqual(failed, [], failed.join('\n\n'));
  });
});
