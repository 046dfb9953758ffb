// The real Claude Code plans in its own mode, gets feedback, and implements the approved plan in
// one conversation.

import assert from 'node:assert/strict';
import type { Step } from '../doubles/fake-model-api/fake-model-api.mjs';
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

suite('Claude Code plans first', function () {
  this.timeout(300_000);
  const project = useProjects();
  const real = useClaude();

  test('nothing is written while it plans, no user is asked, and the session continues with the implementation', async () => {
    const handIn: Step = {
      tools: [{ name: 'ExitPlanMode', input: { plan: '# First plan\n\n1. A' } }],
    };
    const told = (words: string, name: string, steps: Step[]) => ({
      name,
      match: { prompt: words, hasTools: true },
      steps,
    });
    real.fake.setScript({
      conversations: [
        told('## The Approved Plan', 'p1 builds', [writes('p1'), says('Wrote p1.')]),
        told('## Your Plan Was Sent Back', 'p1 again', [says('# Second plan\n\n1. B')]),
        conversation('p1', [writes('p1'), handIn, says('Handed in.')]),
      ],
    });
    const here = project({ env: claudeEnvironment(real.claude, real.fake) });
    await beginPlan(here, [{ id: 'p1', plan: true }]);
    await here.expect(2, ['run']);
    const first = await here.task('p1');
    assert.deepEqual([first.review_kind, first.rescue_refs], ['plan', []]);
    assert.equal(first.proposal?.text, '# First plan\n\n1. A');
    assert.deepEqual((await here.status()).questions, []);
    await here.expect(0, ['send-back', 'p1', 'B, please.']);
    await here.expect(2, ['run']);
    assert.equal((await here.task('p1')).proposal?.text, '# Second plan\n\n1. B');
    await here.expect(0, ['approve', 'p1']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['p1']);
    assert.equal(here.read('repo/p1.txt'), 'work of p1\n');
    assert.equal((await here.task('p1')).attempts, 0);
    const own = real.fake.requests.filter(({ conversation: name = '' }) => name.startsWith('p1'));
    assert.equal(new Set(own.map(({ session }) => session)).size, 1);
    assert.match(await here.expect(0, ['log', 'p1', '--prompt']), /# Second plan/);
  });
});
