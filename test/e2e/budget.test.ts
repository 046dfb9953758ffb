// An agent that never ends: the real Claude Code, and a model that always requests another tool
// call. Each kind of budget stops it between two turns, once, keeps its work, and lets the other
// tasks continue.

import assert from 'node:assert/strict';
import { ensureAgents } from '../agents-under-test/install.mjs';
import type { FakeModelApi, Step } from '../doubles/fake-model-api/fake-model-api.mjs';
import {
  claudeEnvironment,
  conversation,
  goesOn,
  says,
  startModelApi,
  writes,
} from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

/** The last step of a script repeats forever. */
function endless(id: string, delayMs: number): Step[] {
  const step = { ...writes(id), usage: { input: 1_000, output: 200 } };
  return [step, { ...step, delayMs }];
}

/** The task's agent has exited with all of its processes. */
async function untilEnded(here: Project): Promise<void> {
  const none = (): boolean => processesOf(here.folder, 'DROVER_TASK_ID=mad').length === 0;
  await eventually('the agent has ended', none);
}

suite('budgets against an agent that never ends', function () {
  this.timeout(300_000);
  const project = useProjects();
  let claude: string;
  let fake: FakeModelApi;
  suiteSetup(async function () {
    this.timeout(600_000);
    claude = (await ensureAgents()).claude;
  });
  setup(async () => {
    fake = await startModelApi();
  });
  teardown(() => fake.close());

  function begin(settings: string, turnMs = 20): Project {
    fake.setScript({
      conversations: [
        goesOn('mad', endless('mad', turnMs)),
        conversation('mad', endless('mad', turnMs)),
        conversation('good', [writes('good'), says('Wrote good.')]),
      ],
    });
    return project({ env: claudeEnvironment(claude, fake), settings });
  }

  async function keptWork(here: Project): Promise<string> {
    const { rescue_refs: refs } = await here.task('mad');
    assert.equal(refs.length, 1, JSON.stringify(refs));
    return here.git('show', `${refs[0]}:mad.txt`);
  }

  const turns = [
    'turns',
    'task_turns = 6',
    /is used up: \d+ turns of 6 turns; .*task_turns/,
  ] as const;
  const kinds: readonly (readonly [string, string, RegExp])[] = [
    turns,
    ['tokens', 'task_tokens = 6_000', /is used up: .* of 6,000 tokens; .*task_tokens/],
    ['money', 'task_usd = 0.03', /is used up: \$0\.\d+ of \$0\.03; .*task_usd/],
    ['time', 'task_time = "6s"', /is used up: .* of 6 s of work; .*task_time/],
  ];

  for (const [kind, setting, wanted] of sized([turns], kinds)) {
    test(`${kind}: the agent is stopped and not retried, its work is kept, and the other tasks land`, async () => {
      const here = begin(`[budget]\n${setting}\nask_at = 1\nloop_repeats = 0\n`);
      await beginPlan(here, [{ id: 'mad', priority: 'high' }, 'good']);
      const done = await here.drover(['run', '--workers', '1', '--json'], { timeoutMs: 120_000 });
      assert.equal(done.code, 1, `${done.stdout.slice(-3000)}\n${done.stderr}`);
      const mad = await here.task('mad');
      assert.deepEqual([mad.status, mad.attempts], ['failed', 1]);
      assert.match(mad.last_error ?? '', wanted);
      assert.equal(await keptWork(here), 'work of mad');
      assert.deepEqual(landedTasks(here), ['good']);
      await untilEnded(here);
      const { reasons } = await here.json<{ reasons: string[] }>(['why', 'mad']);
      assert.match(reasons.join(' '), /budget of mad is used up.* kept: /);
      const asked = fake.requests.length;
      await here.expect(0, ['retry', 'mad']);
      const again = await here.drover(['run', '--json'], { timeoutMs: 60_000 });
      assert.equal(again.code, 1);
      assert.match((await here.task('mad')).last_error ?? '', wanted);
      // The cost estimate during the run may have been slightly higher than its own final figure.
      const isEstimate = kind === 'money' && fake.requests.length < asked + 6;
      assert.ok(isEstimate || fake.requests.length === asked, 'used up: nothing is started again');
    });
  }

  soakTest(
    "an epic's budget makes all its tasks wait without a failure, and a higher budget continues the same session",
    async () => {
      const settings = '[budget]\nepic_tokens = 6_000\nask_at = 1\nloop_repeats = 0\n';
      const here = begin(settings);
      await beginPlan(here, [
        { id: 'e1', type: 'epic' },
        { id: 'mad', epic_id: 'e1', priority: 'high' },
        { id: 'late', epic_id: 'e1', blocked_by: ['mad'] },
        'good',
      ]);
      const done = await here.drover(['run', '--workers', '1', '--json'], { timeoutMs: 120_000 });
      assert.equal(done.code, 2, `${done.stdout.slice(-3000)}\n${done.stderr}`);
      const mad = await here.task('mad');
      assert.deepEqual([mad.status, mad.attempts, mad.last_error], ['ready', 0, null]);
      assert.deepEqual(landedTasks(here), ['good']);
      const held = await here.events('--type', 'run.held');
      assert.deepEqual(
        held.map(({ data }) => data['scope']),
        ['epic/e1'],
      );
      fake.setScript({
        conversations: [
          goesOn('mad', [says('Enough.')]),
          conversation('late', [writes('late'), says('Done.')]),
        ],
      });
      here.write('repo/.drover.toml', settings.replace('6_000', '600_000'));
      const more = await here.drover(['run', '--workers', '1', '--json'], { timeoutMs: 120_000 });
      assert.equal(more.code, 0, `${more.stdout.slice(-3000)}\n${more.stderr}`);
      assert.deepEqual(landedTasks(here), ['good', 'mad', 'late']);
      assert.equal((await here.task('mad')).attempts, 0);
    },
  );

  soakTest(
    "the day's budget starts nothing more, why and status report it, and a higher budget lets tasks continue",
    async () => {
      const settings = '[budget]\nday_turns = 6\nask_at = 1\nloop_repeats = 0\n';
      const here = begin(settings);
      await beginPlan(here, [{ id: 'mad', priority: 'high' }, 'good']);
      const run = here.start(['run', '--workers', '1', '--json'], { timeoutMs: 200_000 });
      await run.line((line) => line.includes('"run.held"'));
      const { holds } = await here.status();
      assert.deepEqual(
        holds.map(({ scope }) => scope),
        ['day'],
      );
      assert.ok((holds[0]?.until ?? 0) * 1_000 > Date.now());
      for (const id of ['mad', 'good']) {
        // The agent that has used it up is still being stopped.
        await eventually(`why says of ${id} that the budget is used up`, async () => {
          const { reasons } = await here.json<{ reasons: string[] }>(['why', id]);
          const words = /budget of the day is used up: \d+ turns of 6 turns; .*day_turns/;
          return words.test(reasons.join(' '));
        });
      }
      assert.match(await here.expect(0, ['status']), /budget of the day is used up/);
      fake.setScript({
        conversations: [
          goesOn('mad', [says('Enough.')]),
          conversation('good', [writes('good'), says('Done.')]),
        ],
      });
      here.write('repo/.drover.toml', settings.replace('= 6', '= 600'));
      await here.expect(0, ['run', '--workers', '1']);
      const done = await run.ended;
      assert.equal(done.code, 0, `${done.stdout.slice(-3000)}\n${done.stderr}`);
      assert.deepEqual([...landedTasks(here)].sort(), ['good', 'mad']);
      assert.equal((await here.task('mad')).attempts, 0);
    },
  );

  soakTest(
    'a person is asked once before the budget is used up, and "stop" ends the agent',
    async () => {
      // Slow enough that the answer arrives before the budget is used up.
      const here = begin('[budget]\ntask_turns = 40\nask_at = 0.1\nloop_repeats = 0\n', 1_000);
      await beginPlan(here, ['mad']);
      const run = here.start(['run', '--json'], { timeoutMs: 200_000 });
      const question = await eventually('a question', async () =>
        (await here.status()).questions.find(({ task_id }) => task_id === 'mad'),
      );
      assert.match(question.text, /^The budget of mad is \d+ % used: \d+ turns of 40 turns/);
      await here.expect(0, ['answer', question.id, 'stop']);
      const done = await run.ended;
      assert.equal(done.code, 1, `${done.stdout.slice(-3000)}\n${done.stderr}`);
      assert.match((await here.task('mad')).last_error ?? '', /when a person stopped it; /);
      assert.equal((await here.events('--type', 'question.asked')).length, 1);
      assert.equal(await keptWork(here), 'work of mad');
    },
  );

  soakTest(
    'repeated identical calls pause the agent and ask a person, "go on" continues the session, and "stop" ends it',
    async () => {
      const here = begin('[budget]\nloop_repeats = 5\n');
      await beginPlan(here, ['mad']);
      const run = here.start(['run', '--json'], { timeoutMs: 200_000 });
      const ask = (): Promise<{ id: string; text: string }> =>
        eventually('a question', async () => (await here.status()).questions[0]);
      const first = await ask();
      assert.match(first.text, /has made the same call of Write 5 times in a row/);
      await untilEnded(here);
      await here.expect(0, ['answer', first.id, 'go on']);
      const second = await ask();
      assert.match(second.text, /has made the same call of Write 10 times in a row/);
      await here.expect(0, ['answer', second.id, 'stop']);
      const done = await run.ended;
      assert.equal(done.code, 1, `${done.stdout.slice(-3000)}\n${done.stderr}`);
      assert.match(
        (await here.task('mad')).last_error ?? '',
        /was stuck in a loop .*drover hint mad/,
      );
      assert.equal(await keptWork(here), 'work of mad');
      assert.equal(new Set(fake.requests.map(({ session }) => session)).size, 1);
    },
  );

  test('usage survives the crash of a backend', async () => {
    const here = begin('[budget]\ntask_turns = 30\nask_at = 1\nloop_repeats = 0\n');
    const turn = { ...writes('mad'), usage: { input: 1_000, output: 200 }, delayMs: 150 };
    fake.setScript({
      conversations: [
        goesOn('mad', [turn]),
        // It waits for its eleventh answer while its backend dies, so that it does nothing
        // unobserved.
        conversation('mad', [
          ...Array.from({ length: 10 }, () => turn),
          { ...turn, delayMs: 120_000 },
        ]),
      ],
    });
    await beginPlan(here, ['mad']);
    const first = here.start(['run', '--json'], { timeoutMs: 100_000 });
    await eventually('ten turns', async () => {
      const text = await here.expect(0, ['log', 'mad', '--json']);
      return text.split('"tool_result"').length > 10;
    });
    assert.equal(await here.killBackend(), true);
    // The command that follows the run starts the next backend, which continues it.
    const done = await first.ended;
    assert.equal(done.code, 1, `${done.stdout.slice(-3000)}\n${done.stderr}`);
    assert.match((await here.task('mad')).last_error ?? '', /is used up: 3\d turns of 30 turns/);
    // Some requests are not turns (titles), and a turn whose line was not read before the crash is
    // not counted.
    assert.ok(fake.requests.length < 40, `${fake.requests.length} requests`); // not 10 and 30 more
    assert.equal(await keptWork(here), 'work of mad');
  });
});
