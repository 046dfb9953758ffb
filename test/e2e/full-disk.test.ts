// Commands of the project and agents that fail because a disk is full: nobody's work, so no attempt is used up.

import assert from 'node:assert/strict';
import { writesOneFile } from './support/agent-scripts.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

/** Fails as on a full disk for its first runs, which are counted in a file beside the project. */
const fullAtFirst = (counted: string, runs: number): string =>
  `echo run >> ../../${counted}; [ $(wc -l < ../../${counted}) -gt ${runs} ] || { printf "cp: error writing lib: No space %s on device\\n" left >&2; exit 1; }`;

suite('a full disk', function () {
  this.timeout(120_000);
  const project = useProjects();

  const settingsOf = (section: string, command: string): string =>
    `[${section}]\ncommand = '''${command}'''\n`;
  /** Runs one task to its end; resolves with how often its parts ran. */
  async function runOne(
    settings: string,
    agent = writesOneFile,
  ): Promise<{ readonly attempts: number; readonly runs: number }> {
    const here = project({ settings, agent });
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['t1']);
    const { attempts } = await here.task('t1');
    return { attempts, runs: here.read('runs').trim().split('\n').length };
  }

  test('that fails a setup neither blocks its task nor uses an attempt', async () => {
    const settings = settingsOf('setup', fullAtFirst('runs', 2));
    assert.deepEqual(await runOne(settings), { attempts: 0, runs: 3 });
  });

  test('that fails an agent uses no attempt', async () => {
    const agent = `${fullAtFirst('runs', 2)}\n${writesOneFile}`;
    assert.deepEqual(await runOne('', agent), { attempts: 0, runs: 3 });
  });

  test('that fails a gate uses no attempt, and the work lands later', async () => {
    // Twice on the merged tree; the base is green, and then the merged tree.
    const settings = settingsOf('gate', fullAtFirst('runs', 2));
    assert.deepEqual(await runOne(settings), { attempts: 0, runs: 4 });
  });
});
