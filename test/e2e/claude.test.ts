// The real Claude Code through the real command: a diamond with a question, a kill, an overload and
// a limit.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  claudeEnvironment,
  conversation,
  dummyKey,
  goesOn,
  says,
  useClaude,
  writes,
} from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { killAll, processesOf } from './support/processes.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const turnMaxMs = 180_000;

suite('Claude Code through drover run', function () {
  this.timeout(300_000);
  const project = useProjects();
  const real = useClaude();

  test('six tasks and three workers: agents are asked, killed and overloaded, and all tasks land', async () => {
    const bash = {
      name: 'Bash',
      input: { command: 'sh -c "date > c2-by-bash.txt"', description: 'x' },
    };
    real.fake.setScript({
      conversations: [
        goesOn('c3', [says('Gone on to the end.')]),
        conversation('c1', [writes('c1'), says('Wrote c1.')]),
        conversation('c2', [writes('c2'), { tools: [bash] }, says('Wrote c2.')]),
        // The second answer never arrives: the agent is killed while it waits for it.
        conversation('c3', [writes('c3'), { say: 'too late', delayMs: 120_000 }]),
        conversation('c4', [
          { ...writes('c4'), faults: [{ http: 529, times: 2 }] },
          says('Wrote c4.'),
        ]),
        conversation('c5', [writes('c5'), says('Wrote c5.')]),
        conversation('c6', [writes('c6'), says('Wrote c6.')]),
      ],
    });
    const here = project({ env: claudeEnvironment(real.claude, real.fake) });
    await beginPlan(here, [
      'c1',
      { id: 'c2', blocked_by: ['c1'] },
      { id: 'c3', blocked_by: ['c1'] },
      { id: 'c4', blocked_by: ['c1'] },
      { id: 'c5', blocked_by: ['c2', 'c3', 'c4'] },
      { id: 'c6', blocked_by: ['c5'] },
    ]);
    const run = here.start(['run', '--workers', '3', '--gate', 'test -e c1.txt', '--json'], {
      timeoutMs: 200_000,
    });
    const isInside = async (): Promise<boolean> => {
      const place = (await here.task('c3')).worktree_path;
      return place !== null && existsSync(join(place, 'c3.txt'));
    };
    await eventually('c3 is in the middle of its turn', isInside, turnMaxMs);
    const victims = processesOf(here.folder, 'DROVER_TASK_ID=c3').filter(({ what }) =>
      what.startsWith(real.claude),
    );
    assert.equal(victims.length, 1, JSON.stringify(victims));
    killAll(victims);
    const question = await eventually(
      'a question',
      async () => (await here.status()).questions.find(({ task_id }) => task_id === 'c2'),
      turnMaxMs,
    );
    assert.equal(question.kind, 'permission');
    assert.match(question.text, /date > c2-by-bash\.txt/);
    await here.expect(0, ['answer', question.id, question.choices[0] ?? '']);
    const done = await run.ended;
    assert.equal(done.code, 0, `${done.stdout.slice(-4000)}\n${done.stderr}`);

    const landed = landedTasks(here);
    assert.deepEqual([...landed].sort(), ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
    assert.deepEqual([landed[0], ...landed.slice(-2)], ['c1', 'c5', 'c6']);
    for (const id of landed) assert.equal(here.read(`repo/${id}.txt`), `work of ${id}\n`);
    assert.equal(here.git('ls-files', 'c2-by-bash.txt'), 'c2-by-bash.txt');

    const sessions = new Map<string, Set<string | undefined>>();
    for (const { conversation: name = '', session } of real.fake.requests) {
      const id = name.split(' ')[0] ?? '';
      sessions.set(id, (sessions.get(id) ?? new Set()).add(session));
    }
    for (const id of landed) assert.equal(sessions.get(id)?.size, 1, `one session for ${id}`);
    assert.equal(new Set([...sessions.values()].flatMap((set) => [...set])).size, 6);

    for (const task of (await here.status()).tasks) {
      assert.deepEqual([task.id, task.attempts], [task.id, 0]);
      assert.ok(task.cost > 0, `${task.id} costs ${task.cost}`);
    }
    const retries = await here.events('--type', 'agent.retry', '--task', 'c4');
    assert.deepEqual(
      retries.map(({ data }) => data['status']),
      [529, 529],
    );
    assert.equal((await here.expect(0, ['log', 'c1'])).includes(dummyKey), false);
  });

  soakTest(
    'a usage limit parks the task and starts nothing new, and the same session continues later',
    async () => {
      const limit = {
        http: 429,
        times: 1,
        message: 'usage limit',
        headers: { 'anthropic-ratelimit-unified-status': 'rejected' },
      };
      real.fake.setScript({
        conversations: [
          goesOn('w1', [says('Gone on after the limit.')]),
          conversation('w1', [writes('w1'), { say: 'never', faults: [{ ...limit }] }, says('x')]),
          conversation('w2', [writes('w2'), says('Wrote w2.')]),
        ],
      });
      const here = project({
        env: { ...claudeEnvironment(real.claude, real.fake), CLAUDE_CODE_MAX_RETRIES: '0' },
      });
      await beginPlan(here, [{ id: 'w1', priority: 'high' }, 'w2']);
      const run = here.start(['run', '--workers', '1', '--json'], { timeoutMs: 200_000 });
      await run.line((line) => line.includes('"task.waiting"'));
      const status = await here.status();
      const parked = status.tasks.find(({ id }) => id === 'w1');
      assert.deepEqual([parked?.status, parked?.attempts], ['waiting', 0]);
      assert.ok((parked?.waiting_until ?? 0) * 1000 > Date.now());
      assert.equal(status.tasks.find(({ id }) => id === 'w2')?.status, 'ready');
      const { reasons } = await here.json<{ reasons: string[] }>(['why', 'w2']);
      assert.match(reasons.join(' '), /limit|quota/);
      assert.equal(
        real.fake.requests.some(({ conversation: name }) => name === 'w2'),
        false,
      );
      const done = await run.ended;
      assert.equal(done.code, 0, `${done.stdout.slice(-4000)}\n${done.stderr}`);
      assert.deepEqual([...landedTasks(here)].sort(), ['w1', 'w2']);
      assert.equal((await here.task('w1')).attempts, 0);
      const own = real.fake.requests.filter(({ conversation: name = '' }) => name.startsWith('w1'));
      assert.equal(new Set(own.map(({ session }) => session)).size, 1);
    },
  );
});
