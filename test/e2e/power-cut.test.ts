// All processes die at once and the database has lost its last transactions: git is the second
// record of the landings.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { sized, testSeed } from '../tier.ts';
import {
  assertDoneOnce,
  crashPlan,
  type PlannedTask,
  recordedAgent,
  writePlan,
} from './support/crash-epic.ts';
import { eventually } from './support/eventually.ts';
import { killAll, processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { cutLog } from './support/write-ahead-log.ts';

const cutsMax = sized(4, 12);

suite('a power cut', function () {
  this.timeout(600_000);
  const project = useProjects();
  const seed = testSeed;

  test(`everything dies and the last frames are lost (DROVER_SEED=${seed})`, async () => {
    const chance = new SeededChance(seed);
    const here = project({ agent: recordedAgent });
    const tasks = crashPlan();
    await begin(here, tasks);
    const database = join(here.root, '.drover', 'drover.db');
    let command = ['run', '--workers', '4', '--json'];
    let cuts = 0;
    for (let round = 0; round < cutsMax; round += 1) {
      const run = here.start(command, { timeoutMs: 300_000 });
      let isOver = false;
      void run.ended.then(() => (isOver = true));
      const wanted = chance.between(5, 40);
      await eventually('events', () => isOver || run.lineCount() >= wanted);
      if (isOver) break;
      await endEverything(here);
      if (cutLog(database, chance.next()) !== null) cuts += 1;
      // The cut may have removed the run's own row; then the run has not started.
      const runs = (await here.status()).run;
      command = [runs?.active === true ? 'resume' : 'run', '--workers', '4', '--json'].filter(
        (_word, at) => runs?.active !== true || ![1, 2].includes(at),
      );
    }
    const last = await here.drover(command, { timeoutMs: 300_000 });
    assert.equal(last.code, 0, `seed ${seed}\n${last.stdout.slice(-3000)}\n${last.stderr}`);
    assert.ok(cuts > 0, `seed ${seed}: nothing was cut`);
    await cureLock(here);
    await assertDoneOnce(here, tasks, `seed ${seed}, ${cuts} cuts`);
  });
});

async function begin(here: Project, tasks: readonly PlannedTask[]): Promise<void> {
  await here.expect(0, ['init']);
  await here.expect(0, ['import', writePlan(here, tasks)]);
}

/** Kills the backend, the command, the agents and their children at once. */
async function endEverything(here: Project): Promise<void> {
  await eventually('everything has ended', () => {
    const living = processesOf(here.folder);
    killAll(living);
    return living.length === 0;
  });
}

/**
 * A cut during git's fast-forward leaves a lock of git's own, which Drover never removes from a
 * user's repository: the status names the command that does.
 */
async function cureLock(here: Project): Promise<void> {
  for (;;) {
    const { target } = await here.status();
    const command = / run "(rm '[^']+\.lock')"\.$/u.exec(target?.pending_reason ?? '')?.[1];
    if (command === undefined) return;
    assert.equal(here.sh(here.root, command), 0);
    await here.drover(['follow']);
  }
}
