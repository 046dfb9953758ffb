// A person's messages to tasks during a run.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EventView } from '../../server/protocol/api.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

/** Starts, reports this, and waits for its own barrier. */
const waits = `
cat > "../../prompt-$id-$attempt"
touch "../../began-$id-$attempt"
if [ -p "../../go-$id" ]; then read -r line < "../../go-$id"; fi
echo "work of $id" > "$id.txt"
`;

async function began(here: Project, id: string, attempt = 1): Promise<void> {
  await eventually(`${id} has begun`, () =>
    existsSync(join(here.folder, `began-${id}-${attempt}`)),
  );
}

function ended(here: Project, id: string): boolean {
  return processesOf(here.folder, `DROVER_TASK_ID=${id}`).length === 0;
}

suite('steering a run', function () {
  this.timeout(180_000);
  const project = useProjects({ isEachProcess: true });

  test('a follow-up is in the epic of the finished task, and knows its conversation', async () => {
    const agent = `cat > "../../prompt-$id"; echo "$id" > "$id.txt"; echo "I taught it French."`;
    const here = project({ agent });
    await beginPlan(here, [
      { id: 'e', type: 'epic' },
      { id: 'a', epic_id: 'e', title: 'Speak French', description: 'All messages' },
    ]);
    const refused = async (id: string): Promise<string> =>
      (await here.drover(['add', 'And German', '--continues', id])).stderr;
    assert.match(await refused('none'), /Task "none" does not exist/);
    assert.match(await refused('a'), /No agent has worked on a yet, so no conversation exists/);
    await here.expect(0, ['run']);
    const added = await here.expect(0, ['add', 'And German', '--continues', 'a', '--json']);
    const { id } = JSON.parse(added) as { id: string };
    const task = await here.task(id);
    assert.deepEqual([task.epic_id, task.continues], ['e', 'a']);
    await here.expect(0, ['run']);
    const prompt = here.read(`prompt-${id}`);
    assert.match(prompt, /## What This Continues\na: Speak French\nIt has landed as commit/);
    assert.match(prompt, /not available to you[^]*All messages[^]*I taught it French/);
    assert.match(prompt, /Task: And German/);
  });

  test('pause stops the agent, keeps the task and lets others continue, and resume-task continues it', async () => {
    const here = project({ agent: waits });
    const held = makeBarrier(here.folder, 'go-held');
    const open = makeBarrier(here.folder, 'go-open');
    await beginPlan(here, ['held', 'open']);
    const run = here.start(['run', '--json']);
    await began(here, 'held');
    await began(here, 'open');
    const paused = JSON.parse(await here.expect(0, ['pause', 'held', '--json'])) as object;
    assert.equal((paused as { status: string }).status, 'paused');
    assert.equal(ended(here, 'held'), true, 'its agent has ended when the command has');
    open.open();
    assert.equal((await run.ended).code, 2);
    assert.deepEqual(landedTasks(here), ['open']);
    const resumed = await here.drover(['resume-task', 'held', '--hint', 'Mind the gap.']);
    assert.equal(resumed.code, 0);
    assert.match(resumed.stderr, /No run is active: "drover run" starts held\./);
    held.open(2);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['open', 'held']);
    assert.match(here.read('prompt-held-1'), /Mind the gap\./);
    assert.equal((await here.task('held')).attempts, 0);
    for (const barrier of [held, open]) barrier.close();
  });

  test('a forced stop of the backend also ends the command that follows the run', async () => {
    const here = project({ agent: waits });
    const barrier = makeBarrier(here.folder, 'go-a');
    await beginPlan(here, ['a']);
    const run = here.start(['run']);
    await began(here, 'a');
    assert.match(await here.expect(0, ['server', 'stop', '--force']), /The backend has stopped\./);
    assert.equal(ended(here, 'a'), true);
    assert.equal((await run.ended).code, 2);
    const { backend } = await here.json<{ backend: { running: boolean } }>(['doctor']);
    assert.equal(backend.running, false, 'no command started the next backend');
    assert.equal((await here.task('a')).attempts, 0);
    const resumed = here.start(['resume']);
    await began(here, 'a');
    barrier.open();
    assert.equal((await resumed.ended).code, 0);
    barrier.close();
  });

  test('cancel stops the agent first, and dependents are reported as stuck', async () => {
    const here = project({ agent: waits });
    const barrier = makeBarrier(here.folder, 'go-a');
    await beginPlan(here, ['a', { id: 'b', blocked_by: ['a'] }, 'c']);
    const run = here.start(['run', '--json']);
    await began(here, 'a');
    await here.expect(0, ['cancel', 'a', '--reason', 'not wanted']);
    assert.equal(ended(here, 'a'), true);
    assert.equal((await run.ended).code, 2);
    barrier.close();
    const status = await here.status();
    assert.deepEqual([status.counts.cancelled, status.counts.blocked], [1, 1]);
    assert.deepEqual(
      status.stuck.map(({ id, waits_for }) => [id, waits_for]),
      [['b', ['a']]],
    );
    const { reasons } = await here.json<{ reasons: string[] }>(['why', 'b']);
    assert.match(reasons.join(' '), /a .*cancelled/);
    assert.equal(status.progress, 50, 'one of the two that are left');
  });

  test('a hint reaches a running agent, and an agent that starts later', async () => {
    const here = project({ env: { DROVER_AGENT_TYPE: 'demo', DROVER_DEMO_STEP_MS: '1' } });
    await beginPlan(here, [
      { id: 'a', description: 'demo: ask Ready? | yes | no\ndemo: write a.txt {{answer}}' },
      { id: 'b', blocked_by: ['a'], description: 'demo: write b.txt b' },
    ]);
    const run = here.start(['run', '--json']);
    const asked = await eventually('a question', async () => (await here.status()).questions[0]);
    const told = await here.drover(['hint', 'a', 'Also this: \ndemo: write hinted.txt by-hint']);
    assert.deepEqual([told.code, told.stderr], [0, 'The agent of a gets the hint now.\n']);
    await here.expect(0, ['hint', 'b', 'Please:\ndemo: write b-hinted.txt by-hint']);
    const wrong = await here.drover(['answer', asked.id, 'perhaps', '--json']);
    assert.equal(wrong.code, 3);
    assert.match(wrong.stdout, /yes, no/);
    await here.expect(0, ['answer', asked.id, 'yes']);
    assert.equal((await run.ended).code, 0);
    assert.equal(here.read('repo/a.txt'), 'yes\n');
    assert.equal(here.read('repo/hinted.txt'), 'by-hint\n');
    assert.equal(here.read('repo/b-hinted.txt'), 'by-hint\n');
    assert.equal((await here.drover(['answer', asked.id, 'no'])).code, 3);
  });

  soakTest(
    'for an agent that takes no hints while it runs, hint says when the agent gets it',
    async () => {
      const here = project({
        agent: `cat > "../../prompt-$attempt"; read -r line < ../../go; [ "$attempt" != 1 ] || exit 3; echo x > x`,
      });
      const barrier = makeBarrier(here.folder, 'go');
      await beginPlan(here, ['a']);
      const run = here.start(['run', '--json']);
      await eventually('it runs', () => here.read('prompt-1') !== '');
      const hint = await here.drover(['hint', 'a', 'Mind the gap.']);
      assert.equal(hint.code, 0);
      assert.match(hint.stderr, /The agent of a takes no messages while it runs/);
      barrier.open(2);
      assert.equal((await run.ended).code, 0);
      barrier.close();
      assert.match(here.read('prompt-2'), /Mind the gap\./);
    },
  );

  test('retry and reset give a failed task a new attempt', async () => {
    const here = project({
      agent: `cat > /dev/null; [ -e ../../cured ] || exit 3; echo "work of $id" > "$id.txt"`,
    });
    await beginPlan(here, [
      { id: 'a', max_attempts: 1 },
      { id: 'b', blocked_by: ['a'] },
    ]);
    await here.expect(1, ['run']);
    assert.equal((await here.drover(['retry', 'b'])).code, 3);
    await here.expect(0, ['retry', 'a']);
    await here.expect(1, ['run']);
    assert.equal((await here.task('a')).status, 'failed');
    here.write('cured', '');
    await here.expect(0, ['reset', '--failed']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['a', 'b']);
    const attempts = await here.events('--type', 'task.claimed', '--task', 'a');
    assert.deepEqual(
      attempts.map(({ data }) => data['attempt']),
      [1, 2, 3],
    );
    assert.equal((await here.drover(['reset'])).code, 0);
    assert.equal((await here.status()).counts.completed, 2);
  });

  test('a plan changes while it runs: new tasks, new blockers and edited text take effect', async () => {
    const here = project({ agent: waits });
    const barrier = makeBarrier(here.folder, 'go-a');
    await beginPlan(here, ['a', { id: 'b', blocked_by: ['a'] }, { id: 'c', blocked_by: ['a'] }]);
    const run = here.start(['run', '--json']);
    await began(here, 'a');
    await here.expect(0, ['edit', 'b', '-d', 'Other words for b.']);
    await here.expect(0, ['edit', 'b', '--add-blocker', 'c']);
    await importPlan(here, [{ id: 'd', blocked_by: ['c'] }]);
    await here.expect(0, ['edit', 'c', '--remove-blocker', 'a']);
    await began(here, 'c');
    const circle = await here.drover(['edit', 'c', '--add-blocker', 'd', '--json']);
    assert.equal(circle.code, 3);
    assert.match(circle.stdout, /c.*d|d.*c/);
    barrier.open();
    assert.equal((await run.ended).code, 0);
    barrier.close();
    const landed = landedTasks(here);
    assert.deepEqual([...landed].sort(), ['a', 'b', 'c', 'd']);
    assert.ok(landed.indexOf('c') < landed.indexOf('b'));
    assert.match(here.read('prompt-b-1'), /Other words for b\./);
  });

  soakTest(
    'a plan that was never run is not resumed, and the answer names the command that starts it',
    async () => {
      const here = project();
      await beginPlan(here, ['a', 'b']);
      assert.match(
        await here.expect(0, ['resume']),
        /no run was ever started; 2 tasks are ready, "drover run" starts them/,
      );
      const { run } = await here.json<{ run: unknown }>(['resume']);
      assert.equal(run, null);
    },
  );

  test('Ctrl-C pauses cleanly with 130, and resume continues the same run', async () => {
    const here = project({ agent: waits });
    const barriers = ['a', 'b'].map((id) => makeBarrier(here.folder, `go-${id}`));
    await beginPlan(here, ['a', 'b', { id: 'c', blocked_by: ['a', 'b'] }]);
    const run = here.start(['run', '--workers', '2', '--gate', 'test -e README.md', '--json']);
    await began(here, 'a');
    await began(here, 'b');
    run.signal('SIGINT');
    const stopped = await run.ended;
    assert.equal(stopped.code, 130, stopped.stderr);
    assert.match(stopped.stderr, /drover resume/);
    const last = JSON.parse(stopped.stdout.trim().split('\n').at(-1) ?? '') as EventView;
    assert.deepEqual(
      [last.type, last.data['state'], last.data['left']],
      ['run.finished', 'stopped', 3],
    );
    assert.equal(ended(here, 'a') && ended(here, 'b'), true);
    const status = await here.status();
    assert.deepEqual(
      [status.counts.ready, status.counts.blocked, status.run?.active],
      [2, 1, false],
    );
    assert.deepEqual(landedTasks(here), []);
    for (const barrier of barriers) barrier.open(2);
    await here.expect(0, ['resume']);
    assert.deepEqual([...landedTasks(here)].sort(), ['a', 'b', 'c']);
    for (const task of (await here.status()).tasks) assert.equal(task.attempts, 0);
    assert.equal((await here.status()).run?.workers, 2);
    assert.equal((await here.status()).config['gate.command']?.source, 'flag');
    assert.match(await here.expect(0, ['resume']), /nothing to resume/i);
    for (const barrier of barriers) barrier.close();
  });

  test('a watcher without a backend sees the changes of others, until Ctrl-C', async () => {
    const here = project({ agent: writesOneFile });
    await here.expect(0, ['init']);
    const events = here.start(['events', '--follow', '--json']);
    const status = here.start(['status', '--watch', '--json']);
    await status.line((line) => line.includes('"total":0'));
    await here.add('Say hello to everybody');
    await events.line((line) => line.includes('"task.created"'));
    await status.line((line) => line.includes('"total":1'));
    for (const watcher of [events, status]) {
      watcher.signal('SIGINT');
      assert.equal((await watcher.ended).code, 130);
    }
    assert.equal(here.backendPid(), null);
  });

  soakTest(
    'a detached run continues by itself, and the next command follows it to its end',
    async () => {
      const here = project({ agent: writesOneFile });
      await beginPlan(here, ['a', 'b']);
      await here.expect(0, ['run', '--detach']);
      const follow = here.start(['events', '--follow', '--json']);
      await follow.line((line) => line.includes('"run.finished"'));
      follow.signal('SIGINT');
      assert.equal((await follow.ended).code, 130);
      assert.deepEqual([...landedTasks(here)].sort(), ['a', 'b']);
    },
  );
});
