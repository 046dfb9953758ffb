// The real Claude Code finds Drover's tools through Drover's configuration, and the tasks that it
// adds with them run and land.

import assert from 'node:assert/strict';
import {
  claudeEnvironment,
  conversation,
  says,
  useClaude,
  writes,
} from './support/claude-project.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('tools for Claude Code', function () {
  this.timeout(300_000);
  const project = useProjects();
  const real = useClaude();

  test('two sub-tasks and a follow-up run without a question to a person', async () => {
    const tool = (name: string, input: object): { name: string; input: object } => ({
      name: `mcp__drover__${name}`,
      input,
    });
    real.fake.setScript({
      conversations: [
        conversation('m1', [
          { tools: [tool('read_task', {})] },
          {
            tools: [
              tool('add_subtask', { title: 'The first part' }),
              tool('add_subtask', { title: 'The second part' }),
            ],
          },
          { tools: [tool('add_followup', { title: 'What comes after' })] },
          { tools: [tool('report_progress', { note: 'Planned three tasks.' })] },
          writes('m1'),
          says('Planned and wrote m1.'),
        ]),
        conversation('m1.1', [writes('m1.1'), says('Wrote the first part.')]),
        conversation('m1.2', [writes('m1.2'), says('Wrote the second part.')]),
        {
          name: 'after',
          match: { prompt: 'What comes after', hasTools: true },
          steps: [writes('after'), says('Wrote what comes after.')],
        },
      ],
    });
    const here = project({ env: claudeEnvironment(real.claude, real.fake) });
    await beginPlan(here, ['m1']);
    await here.expect(0, ['run', '--workers', '2'], { timeoutMs: 200_000 });
    const { tasks, questions } = await here.status();
    const follow = tasks.find((task) => task.title === 'What comes after');
    assert.deepEqual(
      tasks.map((task) => task.id).sort(),
      ['m1', 'm1.1', 'm1.2', follow?.id ?? ''].sort(),
    );
    for (const task of tasks) assert.equal(task.status, 'completed', task.id);
    assert.deepEqual(questions, []);
    assert.deepEqual(await here.events('--type', 'question.asked'), []);
    assert.deepEqual(landedTasks(here), ['m1', follow?.id]);
    for (const id of ['m1', 'm1.1', 'm1.2', 'after']) {
      assert.equal(here.read(`repo/${id}.txt`), `work of ${id}\n`);
    }
    assert.match(await here.expect(0, ['log', 'm1']), /Planned three tasks\./);
  });

  test('a fact that one agent remembers changes the work of the next agent', async () => {
    const input = { note: 'Amounts are in cents.', at: 'README.md:1' };
    real.fake.setScript({
      conversations: [
        conversation('m1', [
          { tools: [{ name: 'mcp__drover__remember', input }] },
          writes('m1'),
          says('Wrote m1.'),
        ]),
        {
          name: 'm2 with the note',
          match: { prompt: 'Amounts are in cents', hasTools: true },
          steps: [writes('cents'), says('Wrote cents.')],
        },
        conversation('m2', [writes('dollars'), says('Wrote dollars.')]),
      ],
    });
    const here = project({ env: claudeEnvironment(real.claude, real.fake) });
    await beginPlan(here, [
      { type: 'epic', id: 'shop' },
      { id: 'm1', epic_id: 'shop' },
      { id: 'm2', epic_id: 'shop', blocked_by: ['m1'] },
    ]);
    await here.expect(0, ['run', '--land', 'task'], { timeoutMs: 200_000 });
    assert.equal(here.read('repo/cents.txt'), 'work of cents\n');
  });
});
