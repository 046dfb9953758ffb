// Two real Claude Code agents that change the same file learn of each other before either has
// ended.

import assert from 'node:assert/strict';
import { claudeEnvironment, conversation, says, useClaude } from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

/** A snapshot is made within twenty seconds, and compared within five. */
const hintMaxMs = 150_000;

suite('Claude Code with a concurrent task', function () {
  this.timeout(300_000);
  const project = useProjects();
  const real = useClaude();

  test('Claude Code gets the title and the changes of the other task during its turn', async () => {
    const meets = (id: string, name: string): ReturnType<typeof conversation> =>
      conversation(id, [
        {
          tools: [
            {
              name: 'Write',
              input: { file_path: '{{cwd}}/shared.ts', content: `export const ${name} = 1;\n` },
            },
          ],
        },
        {
          delayMs: 45_000,
          tools: [{ name: 'Read', input: { file_path: '{{cwd}}/shared.ts' } }],
        },
        says('Done.'),
      ]);
    const told = {
      name: 'told',
      match: { prompt: /runs at the same time and changes the same lines/, hasTools: true },
      steps: [says('I keep out of its lines.')],
    };
    real.fake.setScript({ conversations: [told, meets('a', 'first'), meets('b', 'second')] });
    const here = project({ env: claudeEnvironment(real.claude, real.fake) });
    await beginPlan(here, [
      { id: 'a', title: 'Name it first' },
      { id: 'b', title: 'Name it second' },
    ]);
    const run = here.start(['run', '--workers', '2', '--json'], { timeoutMs: 290_000 });
    const prompts = await eventually(
      'both are told',
      async () => {
        const sent = real.fake.requests.map((request) => JSON.stringify(request));
        const first = sent.find(
          (text) => text.includes('Task id: a ') && text.includes(hintOf('b')),
        );
        const second = sent.find(
          (text) => text.includes('Task id: b ') && text.includes(hintOf('a')),
        );
        return first === undefined || second === undefined ? undefined : { first, second };
      },
      hintMaxMs,
    );
    assert.match(
      prompts.first,
      /The task b \(Name it second\).*`shared\.ts`.*\+export const second/,
    );
    assert.match(
      prompts.second,
      /The task a \(Name it first\).*`shared\.ts`.*\+export const first/,
    );
    await here.expect(0, ['server', 'stop', '--force']);
    await run.ended;
  });
});

function hintOf(id: string): string {
  return `The task ${id} (`;
}
