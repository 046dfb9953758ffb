// Gates that run early, with real processes: work that is finished while a gate runs is tested at
// the same time.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Barrier, makeBarrier } from './support/agent-scripts.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

const settings = '[gate]\nparallel = 2\n\n[machine]\nmax_load = 0\n';
/** The second task ends once the first one's gate is running. */
const agent = `
if [ "$id" = b ]; then read -r line < ../../second; fi
echo x >> ../../agents
echo "$id" > "$id.txt"
`;

suite('gates that run early', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('status, why and the feed name the candidate of each running gate', async () => {
    const here = project({ agent, settings });
    const [first, early, second] = ['first', 'early', 'second'].map((name) =>
      makeBarrier(here.folder, name),
    ) as [Barrier, Barrier, Barrier];
    const gate = `[ -e a.txt ] || exit 0; if [ -e b.txt ]; then ${early.wait}; else ${first.wait}; fi`;
    await beginPlan(here, ['a', 'b']);
    const run = here.start(['run', '--workers', '2', '--gate', gate, '--json']);
    const isNoted = (ids: readonly (readonly string[])[]) => (line: string) =>
      line.includes('"gates.changed"') && line.includes(`"gates":${JSON.stringify(ids)}`);
    await run.line(isNoted([['a']]));
    second.open();
    await run.line(isNoted([['a'], ['a', 'b']]));
    const { tasks } = await here.status();
    const [a, b] = ['a', 'b'].map((id) => tasks.find((task) => task.id === id)?.running_gate);
    const { since: _a, titles: _b, ...ofB } = b ?? assert.fail('no gate');
    assert.deepEqual(ofB, {
      line: 'main',
      tasks: ['a', 'b'],
      place: 2,
      early: true,
      second: false,
    });
    assert.deepEqual([a?.tasks, a?.place, a?.early], [['a'], 1, false]);
    const shown = 'ate runs early on main + a + b (2nd in the queue)';
    assert.ok((await here.drover(['status', '--tree'])).stdout.includes(shown));
    assert.ok((await here.drover(['why', 'b'])).stdout.includes(`G${shown}, for`));
    first.open();
    early.open();
    assert.equal((await run.ended).code, 0);
    for (const barrier of [first, early, second]) barrier.close();
    assert.ok((await here.status()).tasks.every(({ running_gate: one }) => one === undefined));
  });

  for (const crash of [null, 'verified'] as const) {
    const title = crash === null ? '' : ', also if the backend dies before the branch has moved';
    test(`the second task lands while the gate of the first one hangs${title}`, async () => {
      const here = project({ agent, settings });
      const second = makeBarrier(here.folder, 'second');
      // Only the first task's gate never ends by itself.
      const gate =
        'ls *.txt | tr "\\n" " " >> ../../gates; echo >> ../../gates; if [ ! -e b.txt ] && [ -e a.txt ]; then sleep 1000; fi';
      await beginPlan(here, ['a', 'b']);
      const env = crash === null ? {} : { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: crash };
      const run = here.start(['run', '--workers', '2', '--gate', gate, '--json'], { env });
      await run.line((line) => line.includes('"task.committed"') && line.includes('"a"'));
      second.open();
      const done = await run.ended;
      second.close();
      assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
      assert.deepEqual(landedTasks(here), ['a', 'b']);
      const ran = (name: string): string[] =>
        readFileSync(join(here.folder, name), 'utf8').trim().split('\n');
      assert.equal(ran('agents').length, 2);
      // Verdicts on the landing tree survive the crash.
      const both = ran('gates').filter((line) => line.includes('a.txt b.txt'));
      assert.equal(both.length, 1, ran('gates').join('\n'));
      const unused = (await here.events()).filter(({ type }) => type === 'gate.unused');
      if (crash === null)
        assert.deepEqual(
          unused.map(({ data }) => [data['task_ids'], data['finished']]),
          [[['a'], false]],
        );
    });
  }
});
