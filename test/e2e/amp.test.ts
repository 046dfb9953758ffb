// A double of Amp runs a six-task diamond through the real command: one agent is killed during a
// turn and continues in its thread, everything lands, and nothing is left behind.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ampKey, installAmp } from '../agents/amp-support.ts';
import type { AmpCall, AmpScript } from '../doubles/amp.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { killAll, processesOf } from './support/processes.ts';
import { useProjects } from './support/suite-projects.ts';

const ids = ['d1', 'd2', 'd3', 'd4', 'd5', 'd6'] as const;
const killed = 'd3';

suite('a diamond by Amp', function () {
  this.timeout(200_000);
  const project = useProjects();

  test('Amp is killed and resumed, and all six tasks land', async () => {
    const here = project({ env: { AMP_API_KEY: ampKey, DROVER_AGENT_TYPE: 'amp' } });
    const double = join(here.folder, 'amp');
    const program = installAmp(double);
    const work: AmpScript = {
      steps: [
        { do: 'write', path: '{{task}}.txt', text: 'work of {{task}}\n' },
        { do: 'call', id: 'c', name: 'Bash', input: { cmd: 'cat {{task}}.txt' } },
        { do: 'answer', id: 'c', text: 'work of {{task}}' },
        { do: 'await', path: join(double, 'go-{{task}}') },
        { do: 'text', text: 'Wrote {{task}}.' },
      ],
    };
    const goesOn: AmpScript = { steps: [{ do: 'text', text: 'Gone on to the end.' }] };
    writeFileSync(join(double, 'script.json'), JSON.stringify([work, goesOn]));
    for (const id of ids) if (id !== killed) writeFileSync(join(double, `go-${id}`), '');
    await beginPlan(here, [
      'd1',
      { id: 'd2', blocked_by: ['d1'] },
      { id: 'd3', blocked_by: ['d1'] },
      { id: 'd4', blocked_by: ['d1'] },
      { id: 'd5', blocked_by: ['d2', 'd3', 'd4'] },
      { id: 'd6', blocked_by: ['d5'] },
    ]);
    const run = here.start(['run', '--workers', '3', '--gate', 'test -e d1.txt', '--json'], {
      env: { DROVER_AGENT_PATH: program },
      timeoutMs: 150_000,
    });
    await eventually(`${killed} is in the middle of its turn`, async () => {
      const place = (await here.task(killed)).worktree_path;
      return place !== null && existsSync(join(place, `${killed}.txt`));
    });
    killAll(processesOf(here.folder, `DROVER_TASK_ID=${killed}`));
    const done = await run.ended;
    assert.equal(done.code, 0, `${done.stdout.slice(-4000)}\n${done.stderr}`);

    const landed = landedTasks(here);
    assert.deepEqual([...landed].sort(), [...ids]);
    assert.deepEqual([landed[0], ...landed.slice(-2)], ['d1', 'd5', 'd6']);
    for (const id of ids) assert.equal(here.read(`repo/${id}.txt`), `work of ${id}\n`);
    const calls = readFileSync(join(double, 'calls.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AmpCall);
    for (const { tools } of calls) assert.deepEqual(Object.keys(tools ?? {}), ['drover']);
    const again = calls.filter(({ argv }) => argv[0] === 'threads');
    assert.deepEqual(
      again.map(({ env }) => env['DROVER_TASK_ID']),
      [killed],
    );
    const left = processesOf(here.folder, 'DROVER_TASK_ID=d').map(({ what }) => what);
    assert.deepEqual(left, []);
  });
});
