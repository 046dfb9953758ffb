// The machine sleeps for seven hours while an agent and a gate run: nothing times out because of
// that, and one line reports it. The processes' clock jumps, as on a machine that wakes up.

import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

const hourMs = 3_600_000;
const limits =
  'task_timeout = "1h"\n[gate]\ntimeout = "1h"\n[budget]\ntask_time = "2h"\nday_time = "2h"\n';

suite('a machine that sleeps', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('time limits do not count the sleep, no attempt is used, and one line reports it', async () => {
    const here = project({ settings: limits });
    const agent = makeBarrier(here.folder, 'agent-may-end');
    const gate = makeBarrier(here.folder, 'gate-may-end');
    const jump = join(here.folder, 'jump');
    const sleep = (hours: number): void => {
      writeFileSync(`${jump}.new`, String(hours * hourMs));
      renameSync(`${jump}.new`, jump);
    };
    const slept = async (): Promise<readonly unknown[]> =>
      (await here.events('--type', 'machine.slept')).map(({ data }) => data['slept_ms']);
    sleep(0);
    writeFileSync(
      here.env['DROVER_AGENT_PATH'] ?? '',
      `#!/bin/sh\n${agent.wait}\necho work >> work.txt\n`,
    );
    await beginPlan(here, ['t1', { id: 't2', blocked_by: ['t1'] }]);
    const clock = join(import.meta.dirname, 'support', 'jump-clock.mjs');
    const env = { NODE_OPTIONS: `--import=${clock}`, JUMP_CLOCK_FILE: jump };
    const running = here.start(['run', '--gate', gate.wait], { env });
    await eventually('the agent runs', async () => (await here.status()).counts.in_progress === 1);
    sleep(7);
    await eventually('the sleep is noticed', async () => (await slept()).length === 1);
    agent.open(2);
    await eventually('the gate runs', async () => (await here.task('t1')).phase === 'gate');
    sleep(9);
    await eventually('the sleep is noticed', async () => (await slept()).length === 2);
    gate.open(2);
    const { code, stdout } = await running.ended;
    assert.equal(code, 0, stdout);
    const lines = stdout.split('\n').filter((line) => line.includes('machine.slept'));
    assert.deepEqual(
      lines.map((line) => line.replace(/^\S+\s+/u, '').trim()),
      ['machine.slept        slept 7 h', 'machine.slept        slept 2 h'],
    );
    // Seven hours of work would have used up the day's budget before the second task.
    for (const id of ['t1', 't2']) {
      const { status, attempts } = await here.task(id);
      assert.deepEqual([id, status, attempts], [id, 'completed', 0]);
    }
  });
});
