// An agent that cannot do a task, and the agent that takes over: by the kind of failure, across
// crashes, at a limit, with the real command.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureAgents } from '../agents-under-test/install.mjs';
import type { FakeModelApi } from '../doubles/fake-model-api/fake-model-api.mjs';
import { makeBarrier, writeAgent, writesOneFile } from './support/agent-scripts.ts';
import { assertOnlyDummy, claudeEnvironment, startModelApi } from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { panelClient } from './support/panel-client.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

/** Fails without a model; with one, it does its work and stores its prompt. */
const worksWithModel = `
cat > "../../prompt-$id-$attempt.txt"
echo "$attempt \${DROVER_AGENT_MODEL:-none}" >> ../../ran.txt
if [ "\${DROVER_AGENT_MODEL:-}" = "" ]; then echo "the small model gives up" >&2; exit 1; fi
echo "work of $id by $DROVER_AGENT_MODEL" > "$id.txt"
`;

suite('fallback agents', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('the next attempt uses the next agent in the list, which gets the reason', async () => {
    const here = project({ agent: worksWithModel });
    await here.expect(0, ['init']);
    const id = await here.add('Write a file', '--fallback', 'command:big');
    assert.deepEqual((await here.task(id)).fallback, ['command:big']);
    const out = await here.expect(0, ['run', '--workers', '1', '--json']);
    assert.match(out, /"next_agent":"command","next_model":"big"/);

    assert.deepEqual(here.read('ran.txt').trim().split('\n'), ['1 none', '2 big']);
    assert.equal(here.read(`repo/${id}.txt`), `work of ${id} by big\n`);
    const prompt = here.read(`prompt-${id}-2.txt`);
    assert.match(prompt, /\(by another agent, command\) ended with/);
    assert.match(prompt, /the small model gives up/);
    const done = await here.task(id);
    assert.deepEqual([done.status, done.attempts, done.model], ['completed', 1, null]);
    const starts = (await here.events('--task', id)).filter(({ type }) => type === 'task.claimed');
    assert.deepEqual(
      starts.map(({ data }) => [data['attempt'], data['agent'], data['model'] ?? null]),
      [
        [1, 'command', null],
        [2, 'command', 'big'],
      ],
    );
  });

  soakTest('the model of a task is requested until it is removed', async () => {
    const here = project({ agent: worksWithModel });
    await here.expect(0, ['init']);
    const id = await here.add('Write a file', '--model', 'opus', '--max-attempts', '1');
    const bare = await here.add('Write another', '--model', 'opus', '--max-attempts', '1');
    assert.equal((await here.task(bare)).model, 'opus');
    await here.expect(0, ['edit', bare, '--model', '']);
    assert.match(await here.expect(0, ['show', id]), /model: opus/);
    await here.expect(1, ['run', '--workers', '1']);
    assert.deepEqual(here.read('ran.txt').trim().split('\n'), ['1 opus', '1 none']);
    assert.deepEqual(landedTasks(here), [id]);
  });

  soakTest('the list in the settings applies to all tasks, and a task can opt out', async () => {
    const here = project({
      agent: worksWithModel,
      settings: '[agents.command]\nfallback = [{ agent = "demo" }]\n[gate]\ncommand = "true"\n',
    });
    await here.expect(0, ['init']);
    const alone = await here.add('Alone', '--fallback', 'none', '--max-attempts', '1');
    const id = await here.add('Passed on');
    await here.expect(1, ['run', '--workers', '2']);
    assert.equal((await here.task(alone)).status, 'failed');
    assert.equal((await here.task(id)).status, 'completed');
    assert.deepEqual(landedTasks(here), [id]);
  });

  test('a missing agent is replaced at once, without using an attempt', async () => {
    const here = project({ agent: worksWithModel });
    await here.expect(0, ['init']);
    const id = await here.add('Write a file', '--agent', 'codex', '--max-attempts', '1');
    await here.expect(3, ['run']);
    await here.expect(0, ['run', '--fallback', 'command:big']);
    const done = await here.task(id);
    assert.deepEqual([done.status, done.attempts], ['completed', 0]);
    assert.deepEqual(here.read('ran.txt').trim().split('\n'), ['2 big']);
  });

  test('a takeover survives crashes of the backend between the two agents and during the second one', async () => {
    const here = project({ agent: `${worksWithModel}\nread -r line < ../../go` });
    const barrier = makeBarrier(here.folder, 'go');
    await here.expect(0, ['init']);
    const id = await here.add('Write a file', '--fallback', 'command:big');
    const run = here.start(['run', '--json'], {
      env: { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: 'attempt_failed' },
    });
    await eventually('the second agent is at work', () => here.read('ran.txt').includes('2 big'));
    const { status, agent, model } = await here.task(id);
    assert.deepEqual([status, agent, model], ['in_progress', 'command', 'big']);
    assert.match(await here.expect(0, ['status', '--tree']), /command:big/);
    assert.match(
      await here.expect(0, ['why', id]),
      /command:big takes over .* from command, whose attempt ended with: .*exit code 1/,
    );
    const client = await panelClient(here);
    const attempts = await client.call('attempts', { id });
    client.close();
    assert.deepEqual(
      attempts.map((one) => [one.number, one.agent, one.model, one.state, one.failure_kind]),
      [
        [1, 'command', null, 'failed', 'agent_failed'],
        [2, 'command', 'big', 'running', null],
      ],
    );
    const pid = here.backendPid();
    await here.killBackend();
    await eventually('another backend', () => ![null, pid].includes(here.backendPid()));
    barrier.open(2);
    const done = await run.ended;
    assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
    assert.deepEqual(landedTasks(here), [id]);
    assert.deepEqual(here.read('ran.txt').trim().split('\n'), ['1 none', '2 big']);
    barrier.close();
  });
});

suite('a fallback agent for an account at its limit', function () {
  this.timeout(180_000);
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

  test('the task is not parked: another agent gets it at once, and also the later tasks', async () => {
    const headers = { 'anthropic-ratelimit-unified-status': 'rejected' };
    fake.setScript({
      conversations: [],
      faults: [{ http: 429, message: 'usage limit', headers }],
    });
    const here = project({
      env: { ...claudeEnvironment(claude, fake), CLAUDE_CODE_MAX_RETRIES: '0' },
      settings: '[agent]\nfallback = "command"\nfallback_wait = "0"\n',
    });
    const agent = writeAgent(here.folder, writesOneFile, 'other.sh');
    appendFileSync(join(here.root, '.drover.toml'), `[agents.command]\npath = "${agent}"\n`);
    here.git('commit', '-qam', 'settings');
    await here.expect(0, ['init']);
    const ids = [await here.add('First'), await here.add('Second')];
    await here.expect(0, ['run', '--workers', '1']);
    assert.deepEqual(landedTasks(here), ids);
    const events = await here.events();
    assert.deepEqual(
      events.filter(({ type }) => type === 'task.waiting'),
      [],
    );
    assert.deepEqual(
      events
        .filter(({ type }) => type === 'task.claimed')
        .map(({ data }) => [data['attempt'], data['agent']]),
      [
        [1, 'claude'],
        [2, 'command'],
        [1, 'command'],
      ],
    );
    for (const id of ids) assert.equal((await here.task(id)).attempts, 0);
    assertOnlyDummy(fake);
  });
});
