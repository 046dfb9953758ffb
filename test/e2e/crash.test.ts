// The backend is killed at random times and at every step: every task is done exactly once.

import assert from 'node:assert/strict';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { reachableTokens, tokensOf } from '../neighbours/tokens.ts';
import { sized, soakTest, testSeed } from '../tier.ts';
import {
  assertDoneOnce,
  crashPlan,
  recordedAgent,
  tokenAgent,
  writePlan,
} from './support/crash-epic.ts';
import { eventually } from './support/eventually.ts';
import { isProcessAlive, killAll, processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import type { RunningProgram } from './support/run-program.ts';
import { useProjects } from './support/suite-projects.ts';

const seed = testSeed;
const killsWanted = sized(10, 50);
const roundsMax = 20;
/** Kills the backend together with its agents. */
const wholeKills = 10;
/**
 * Maximum number of events between two kills, and the wait after the last of them, so that a kill
 * can happen at any point.
 */
const eventsMax = 25;
const delayMsMax = 60;

suite('a backend that is killed', function () {
  this.timeout(900_000);
  const project = useProjects();

  test(`the backend is killed at ${killsWanted} random times (DROVER_SEED=${seed})`, async () => {
    const chance = new SeededChance(seed);
    let kills = 0;
    for (let round = 0; kills < killsWanted; round += 1) {
      assert.ok(round < roundsMax, `only ${kills} kills in ${round} rounds`);
      const here = project({ agent: recordedAgent });
      const tasks = crashPlan();
      await here.expect(0, ['init']);
      await here.expect(0, ['import', writePlan(here, tasks)]);
      // In every second round, the tasks land on the epic's own line, and the epic as a whole on
      // the target.
      const isEpic = round % 2 === 1;
      const scope = isEpic ? ['--epic', 'CRASH', '--gate', 'true'] : [];
      kills += await runWithKills(here, chance, killsWanted - kills, scope);
      const line = isEpic ? 'drover/epic/CRASH' : 'main';
      await assertDoneOnce(here, tasks, `seed ${seed}, round ${round}`, line);
    }
  });

  soakTest(
    `the backend is killed ${wholeKills} times with its agents, and no line of theirs is lost (DROVER_SEED=${seed})`,
    async () => {
      const chance = new SeededChance(seed);
      let kills = 0;
      for (let round = 0; kills < wholeKills; round += 1) {
        assert.ok(round < roundsMax, `only ${kills} kills in ${round} rounds`);
        const here = project({ agent: tokenAgent });
        const tasks = crashPlan(2);
        await here.expect(0, ['init']);
        await here.expect(0, ['import', writePlan(here, tasks)]);
        kills += await runWithKills(here, chance, wholeKills - kills, [], () => {
          killAll(processesOf(here.folder).filter(({ what }) => what.includes('agent.sh')));
          assertNothingLost(here, `seed ${seed}, after a kill in round ${round}`);
        });
        assertNothingLost(here, `seed ${seed}, round ${round}`);
        await assertDoneOnce(here, tasks, `seed ${seed}, round ${round}`);
      }
    },
  );
});

/** Each written token is in a ref or in a file. */
function assertNothingLost(here: Project, when: string): void {
  const { root, folder } = here;
  const found = reachableTokens({ project: here, root, folder, far: '' });
  const written = tokensOf(here.read('ledger'));
  const lost = written.filter((token) => !found.has(token));
  assert.deepEqual(lost, [], when);
}

/** Runs the epic to its end; resolves with the number of times the backend was killed. */
async function runWithKills(
  here: Project,
  chance: SeededChance,
  killsMax: number,
  scope: readonly string[],
  onKill: () => void = () => {},
): Promise<number> {
  let kills = 0;
  let run = here.start(['run', '--workers', '4', ...scope, '--json'], { timeoutMs: 400_000 });
  let isOver = false;
  for (;;) {
    const ended = run.ended;
    void ended.then(() => (isOver = true));
    if (kills < killsMax && (await killSometime(here, run, chance, () => isOver))) {
      kills += 1;
      onKill();
      // Half of the time, the command dies too, and a person runs `resume`.
      if (chance.percent(50)) continue;
      run.signal('SIGKILL');
      await ended;
      isOver = false;
      run = here.start(['resume', '--json'], { timeoutMs: 400_000 });
      continue;
    }
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, `seed ${seed}\n${stdout.slice(-2000)}\n${stderr.slice(-4000)}`);
    return kills;
  }
}

/** Kills the backend after some events and milliseconds; returns false if the run ended before. */
async function killSometime(
  here: Project,
  run: RunningProgram,
  chance: SeededChance,
  isOver: () => boolean,
): Promise<boolean> {
  const events = chance.below(eventsMax);
  const delayMs = chance.below(delayMsMax);
  const pid = await eventually('a backend', () => (isOver() ? -1 : here.backendPid()));
  if (pid === -1) return false;
  const before = run.lineCount();
  // A run that was killed before its first event has not started, so `resume` would rightly find
  // nothing.
  const wanted = Math.max(before + events, 1);
  await eventually('events', () => isOver() || run.lineCount() >= wanted);
  if (isOver()) return false;
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (isOver() || !isProcessAlive(pid)) return false;
  process.kill(pid, 'SIGKILL');
  await eventually('the backend is gone', () => !isProcessAlive(pid));
  return true;
}
