// Plans: the agent writes nothing that lands, a person approves the plan or sends it back, and the
// implementing agent gets it.

import assert from 'node:assert/strict';
import type { TaskView } from '../../server/protocol/api.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

/**
 * Plans incorrectly on purpose: it commits and leaves files behind. When implementing, it stores
 * its prompt.
 */
const agent = `
prompt=$(cat)
echo "\${DROVER_PLANNING:-build} $DROVER_TASK_ID" >> ../../order
if [ "\${DROVER_PLANNING:-}" = 1 ]; then
  echo naughty > naughty.txt
  git add -A && git commit -qm naughty
  echo more > more.txt
  printf '%s' "$prompt" > ../../planned
  printf '# The plan\\n\\n1. Write it.\\n2. Test it.\\n'
else
  printf '%s' "$prompt" > ../../built
  echo done > "$DROVER_TASK_ID.txt"
  echo 'It is written.'
fi
`;

async function planned(here: Project, ...more: readonly string[]): Promise<string> {
  await here.expect(0, ['init']);
  const id = await here.add('Write it', '--plan', ...more);
  await here.expect(2, ['run']);
  return id;
}

const steps = ['claimed', 'worktree_created', 'planned', 'plan_proposed'];

suite('planning mode', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('the plan waits for a person, is approved and implemented, and files written while planning never land', async () => {
    const here = project({ agent });
    const id = await planned(here, '--accept', 'It is tested.');
    const task = await here.task(id);
    assert.deepEqual([task.status, task.review_kind, task.attempts], ['needs_review', 'plan', 0]);
    assert.equal(task.proposal?.text, '# The plan\n\n1. Write it.\n2. Test it.');
    assert.deepEqual(task.rescue_refs, [`refs/drover/work/${id}/1`]);
    const kept = task.rescue_refs.map((ref) => here.git('ls-tree', '--name-only', '-r', ref));
    assert.ok(kept.some((names) => names.includes('naughty.txt')));
    assert.ok(kept.some((names) => names.includes('more.txt')));
    assert.match(await here.expect(0, ['status']), /waits for you to approve its plan/);
    assert.match(await here.expect(0, ['why', id]), /waits for you to approve its plan/);
    assert.match(await here.expect(0, ['show', id]), /Plan 1 \(waits for you\):\n# The plan/);
    assert.match(here.read('planned'), /Only plan, do not implement/);
    assert.doesNotMatch(here.read('planned'), /Implement this task/);

    await here.expect(0, ['approve', id]);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), [id]);
    assert.match(here.read('built'), /## The Approved Plan[^]*1\. Write it\./);
    assert.match(here.read('built'), /A person has approved this plan[^]*2\. Test it\./);
    assert.equal(here.git('ls-files', 'naughty.txt', 'more.txt'), '');
    assert.equal(here.git('log', '--format=%s', 'main').includes('naughty'), false);
    assert.deepEqual(here.read('order').trim().split('\n'), [`1 ${id}`, `build ${id}`]);
    assert.equal((await here.task(id)).attempts, 0);
  });

  soakTest(
    'a plan that is sent back is revised with the comment, and a person may change it on approval',
    async () => {
      const here = project({ agent, settings: 'plan = true\n' });
      await here.expect(0, ['init']);
      const id = await here.add('Write it');
      await here.expect(2, ['run']);
      await here.expect(0, ['send-back', id, 'Use the other table.']);
      await here.expect(2, ['run']);
      const prompt = here.read('planned');
      assert.match(prompt, /## Your Plan Was Sent Back[^]*Use the other table\.[^]*2\. Test it\./);
      const again = await here.task(id);
      assert.deepEqual(
        [again.status, again.proposal?.number, again.attempts],
        ['needs_review', 2, 0],
      );
      here.write('plan.md', 'Just write one line.\n');
      await here.expect(0, ['approve', id, '--plan-file', `${here.folder}/plan.md`]);
      await here.expect(0, ['run']);
      assert.match(here.read('built'), /Just write one line\./);
      assert.doesNotMatch(here.read('built'), /2\. Test it\./);
      assert.equal((await here.task(id)).status, 'completed');
    },
  );

  soakTest(
    'a waiting plan uses no worker, other tasks land in the meantime, and "--no-plan" skips planning',
    async () => {
      const here = project({ agent, settings: 'plan = true\nmax_workers = 1\n' });
      await here.expect(0, ['init']);
      const first = await here.add('Write it');
      const other = await here.add('Something else', '--no-plan');
      const later = await here.add('Comes after', '--no-plan', '--blocked-by', first);
      await here.expect(2, ['run']);
      assert.deepEqual(landedTasks(here), [other]);
      const waiting = await here.task(first);
      assert.deepEqual([waiting.worktree_path, waiting.branch], [null, null]);
      assert.equal((await here.drover(['diff', first])).stdout.includes('naughty'), false);
      await here.expect(0, ['approve', first]);
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), [other, first, later]);
    },
  );

  test('if plans are sent back and approved during a run, the same run plans again and implements them', async () => {
    const waits = `case $(cat ../../other) in $DROVER_TASK_ID) read -r line < ../../go;; esac\n`;
    const here = project({ agent: `${waits}${agent}` });
    const barrier = makeBarrier(here.folder, 'go');
    await here.expect(0, ['init']);
    const other = await here.add('Something else');
    here.write('other', other);
    const id = await here.add('Write it', '--plan');
    const run = here.start(['run', '--workers', '2', '--json']);
    const planIs = (number: number): Promise<unknown> =>
      eventually(`plan ${number}`, async () => (await here.task(id)).proposal?.number === number);
    await planIs(1);
    await here.expect(0, ['send-back', id, 'Shorter.']);
    await planIs(2);
    await here.expect(0, ['approve', id]);
    await eventually('it has landed', async () => (await here.task(id)).status === 'completed');
    barrier.open();
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
    assert.deepEqual(landedTasks(here), [id, other]);
  });

  test('secrets appear in no plan', async () => {
    const secret = 'tell-nobody-4711';
    const settings = 'env_allow = ["MY_TOKEN"]\n';
    const env = { MY_TOKEN: secret };
    const here = project({ agent: 'cat > /dev/null; echo "Plan with $MY_TOKEN."', settings, env });
    const id = await planned(here);
    assert.equal((await here.task(id)).proposal?.text, 'Plan with [hidden].');
    const shown = await here.expect(0, ['show', id]);
    assert.equal(shown.includes(secret), false);
  });

  test('an attempt that is paused, killed or canceled while planning plans again, and nothing lands', async () => {
    const here = project({ agent: `echo x >> tried.txt; read -r line < ../../go; ${agent}` });
    const barrier = makeBarrier(here.folder, 'go');
    await here.expect(0, ['init']);
    const id = await here.add('Write it', '--plan');
    const begun = async (): Promise<void> => {
      await eventually('an agent that plans', () =>
        processesOf(here.folder, 'DROVER_PLANNING=1').some(({ what }) => what.includes('agent')),
      );
    };
    const first = here.start(['run', '--json']);
    await begun();
    await here.expect(0, ['pause', id]);
    assert.equal((await first.ended).code, 2);
    await here.expect(0, ['resume-task', id]);
    const run = here.start(['run', '--json']);
    await begun();
    const pid = here.backendPid();
    assert.ok(pid !== null);
    process.kill(pid, 'SIGKILL');
    await eventually('another backend', () => ![null, pid].includes(here.backendPid()));
    barrier.open(2);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 2, `${done.stdout}\n${done.stderr}`);
    const task = await here.task(id);
    assert.deepEqual([task.review_kind, task.proposal?.number, task.attempts], ['plan', 1, 0]);
    await here.expect(0, ['cancel', id]);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), []);
  });

  for (const step of sized(['planned'], steps)) {
    test(`a backend that dies after "${step}" plans once, and the plan still waits`, async () => {
      const here = project({ agent });
      await here.expect(0, ['init']);
      const id = await here.add('Write it', '--plan');
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      const run = await here.drover(['run'], { env });
      assert.equal(run.code, 2, `${run.stdout}\n${run.stderr}`);
      assert.match(run.stderr, /Lost the connection to the backend/);
      const task = await here.task(id);
      assert.deepEqual([task.review_kind, task.attempts], ['plan', 0]);
      assert.equal(task.proposal?.number, 1);
      await here.killBackend();
      await here.expect(0, ['approve', id]);
      await here.killBackend();
      await here.expect(0, ['run']);
      assert.deepEqual(here.read('order').trim().split('\n'), [`1 ${id}`, `build ${id}`]);
      assert.deepEqual(landedTasks(here), [id]);
      assert.equal(here.git('ls-files', 'naughty.txt', 'more.txt'), '');
    });
  }

  soakTest(
    'a plan that was cancelled or retried is written again, and an empty plan is a failed try that uses no attempt',
    async () => {
      const emptyFirst = `[ -e ../../order ] || { cat > /dev/null; echo x >> ../../order; exit 0; }\n`;
      const here = project({ agent: emptyFirst + agent });
      const id = await planned(here);
      assert.deepEqual(
        [(await here.task(id)).attempts, (await here.task(id)).proposal?.number],
        [0, 1],
      );
      await here.expect(0, ['cancel', id]);
      const { proposal } = await here.json<TaskView>(['show', id]);
      assert.equal(proposal?.state, 'dropped');
      const refused = await here.drover(['approve', id]);
      assert.equal(refused.code, 3);
      await here.expect(0, ['retry', id]);
      await here.expect(2, ['run']);
      assert.equal((await here.task(id)).proposal?.number, 2);
      await here.expect(0, ['edit', id, '--no-plan']);
      await here.expect(0, ['retry', id]);
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), [id]);
    },
  );

  test('the demo agent plans in a conversation that continues', async () => {
    const here = project({ env: { DROVER_AGENT_TYPE: 'demo', DROVER_DEMO_STEP_MS: '1' } });
    const description = 'demo: when-planning write secret-try.txt no\ndemo: write hello.txt hello';
    const id = await planned(here, '-d', description);
    assert.match(
      (await here.task(id)).proposal?.text ?? '',
      /# Plan: Write it\n\n1\. write hello\.txt/,
    );
    await here.expect(0, ['send-back', id, 'Say it twice.']);
    await here.expect(2, ['run']);
    assert.match((await here.task(id)).proposal?.text ?? '', /^# Plan after: Say it twice\./);
    await here.expect(0, ['approve', id]);
    await here.expect(0, ['run']);
    assert.equal(here.read('repo/hello.txt'), 'hello\n');
    assert.equal(here.git('ls-files', 'secret-try.txt'), '');
    const started = await here.events('--type', 'task.claimed', '--task', id);
    assert.equal(started.length, 3);
  });
});
