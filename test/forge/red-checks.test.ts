// Red jobs of Actions: their logs go to an agent, after one more run if they name no file of the
// work.

import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { soakTest } from '../tier.ts';
import type { FakeCheck } from '../doubles/fake-github/pulls.ts';
import { slug, token, usePulls } from './support/pulls.ts';

suite('a red job', function () {
  this.timeout(180_000);
  const pulls = usePulls();
  const unit: FakeCheck = {
    name: 'unit',
    state: 'failure',
    log: `##[error]Error: connect ECONNREFUSED db with ${token}\nexit 1\n`,
  };

  const head = (): string => pulls.fake.git.tip(slug, 'drover/E1') ?? '';
  const turns = (check: FakeCheck): void => void pulls.fake.checks.set(head(), [check]);
  const runsAgain = (): Promise<true> =>
    eventually('the job runs again', () => pulls.fake.reruns.length === 1);
  const fixes = async (here: Project) => {
    const { tasks } = await here.status();
    return tasks.filter(({ title }) => title.startsWith('PR #41: the check'));
  };
  const given = (here: Project): Promise<true> =>
    eventually('an agent gets it', async () => (await fixes(here)).length === 1);

  test('whose log names no file of the work runs once more; red again, an agent gets the log', async () => {
    const here = await pulls.opened();
    const first = head();
    turns(unit);
    await runsAgain();
    await eventually('the status says so', async () =>
      /the job "unit" runs once more/u.test(await pulls.noteOf(here)),
    );
    assert.deepEqual(await fixes(here), []);
    pulls.fake.checks.set(first, [{ ...unit, attempt: 2 }]);
    await given(here);
    assert.equal(pulls.fake.reruns.length, 1);
    const [fix] = await fixes(here);
    const shown = await here.expect(0, ['show', fix?.id ?? '']);
    assert.match(shown, /Error: connect ECONNREFUSED db/u);
    assert.ok(!shown.includes(token));
  });

  test('whose log names a file of the work goes to an agent at once', async () => {
    const here = await pulls.opened();
    turns({ ...unit, log: 'FAIL t2.txt:1: too short\n' });
    await given(here);
    assert.deepEqual(pulls.fake.reruns, []);
  });

  test('that may not be run again by this token goes to an agent, and the reason is shown', async () => {
    const here = await pulls.opened();
    const message = 'Resource not accessible by personal access token';
    const headers = { 'x-accepted-github-permissions': 'actions=write' };
    pulls.fake.refused.set('/rerun', { status: 403, message, headers });
    turns(unit);
    await given(here);
    const shown = await here.expect(0, ['pr', 'E1']);
    assert.match(shown, /rerun.*may not write.*actions=write/u);
  });

  for (const step of ['forge_rerun_sent', 'forge_rerun']) {
    soakTest(`runs once more, and only once, although the backend dies at ${step}`, async () => {
      const here = await pulls.begin();
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      await here.drover(['run', '--epic', 'E1', '--land', 'pr'], { env });
      await pulls.isReady();
      turns(unit);
      await eventually('the backend has died', () => here.backendPid() === null);
      here.start(['server', '--socket', `${here.folder}/own.sock`]);
      await runsAgain();
      turns({ name: 'unit', state: 'success', attempt: 2 });
      await eventually('it waits for a person', async () =>
        /waits for a person to merge it/u.test(await pulls.noteOf(here)),
      );
      assert.equal(pulls.fake.reruns.length, 1);
      assert.deepEqual(await fixes(here), []);
    });
  }
});
