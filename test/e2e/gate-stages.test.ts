// A gate with stages: side by side on one tree, the first red one stops the others, and a stage
// that a change does not need is skipped.

import assert from 'node:assert/strict';
import type { EventView } from '../../server/protocol/api.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

const ofType = (events: readonly EventView[], type: string): readonly EventView[] =>
  events.filter((event) => event.type === type);

suite('gates with stages', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('stages run side by side, and one with paths runs only for changes there', async () => {
    const here = project({
      agent: 'mkdir -p docs; case $id in guide) echo x > docs/guide ;; *) echo x > "$id" ;; esac',
      settings: `[gate.stages]
# Each of the two lets the other one end.
left = "echo go > ../../right & read -r line < ../../left; wait"
right = "echo go > ../../left & read -r line < ../../right; wait"
docs = { command = "ls docs >> ../../docs-tested", paths = ["docs"] }
`,
    });
    const barriers = ['left', 'right'].map((name) => makeBarrier(here.folder, name));
    await beginPlan(here, ['code', { id: 'guide', blocked_by: ['code'] }]);
    await here.expect(0, ['run', '--workers', '1']);
    for (const barrier of barriers) barrier.close();
    assert.deepEqual(landedTasks(here), ['code', 'guide']);
    assert.equal(here.read('docs-tested').trim().split('\n').at(-1), 'guide');
    const events = await here.events();
    const runId = ofType(events, 'run.started')[0]?.run_id;
    const ran = ofType(events, 'gate.passed').map(({ data }) => [
      data['task_ids'],
      (data['stages'] as { name: string }[]).map(({ name }) => name).sort(),
    ]);
    assert.deepEqual(
      ran.filter(([ids]) => (ids as string[]).length > 0),
      [
        [['code'], ['left', 'right']],
        [['guide'], ['docs', 'left', 'right']],
      ],
    );
    assert.match(
      await here.expect(0, ['report', String(runId)]),
      /The stage docs was skipped in 1 landing that changed nothing in docs\./,
    );
  });

  test('the first red stage stops the others, and the agent and the person get its name', async () => {
    const here = project({
      agent: 'if [ -e work ]; then echo good > work; else echo bad > work; fi',
      settings: `[gate.stages]
slow = "echo go > ../../slow-runs; if grep -q bad work; then sleep 1000; fi"
style = "read -r line < ../../slow-runs; echo 'error: tabs in work'; ! grep -q bad work"
`,
    });
    const slow = makeBarrier(here.folder, 'slow-runs');
    await beginPlan(here, [{ id: 't1', max_attempts: 2 }]);
    await here.expect(0, ['run', '--workers', '1']);
    slow.close();
    assert.deepEqual(landedTasks(here), ['t1']);
    const failed = ofType(await here.events(), 'gate.failed');
    assert.equal(failed.length, 2);
    for (const { data } of failed) {
      assert.equal(data['stage'], 'style');
      assert.deepEqual(
        (data['stages'] as { name: string; ok: boolean }[]).map(({ name, ok }) => [name, ok]),
        [['style', false]],
      );
    }
    const named = /The stage style of the gate failed on the merged code: error: tabs in work/;
    assert.match(await here.expect(0, ['log', 't1', '--attempt', '2', '--prompt']), named);
    assert.match(await here.expect(0, ['log', 't1', '--attempt', '1']), named);
  });

  test('a command and stages together are refused', async () => {
    const here = project({ settings: '' });
    await beginPlan(here, ['t1']);
    here.write('repo/.drover.toml', '[gate]\ncommand = "true"\nstages = { a = "true" }\n');
    const run = await here.drover(['run']);
    assert.notEqual(run.code, 0);
    assert.match(run.stderr, /`gate\.command` and `gate\.stages` are both set\. Remove one/);
  });
});
