// Twenty tasks, eight workers, and an account that reaches its limit after the fifth task: the real
// Claude Code, with a model API on loopback that refuses all requests until the limit ends.

import assert from 'node:assert/strict';
import { ensureAgents } from '../agents-under-test/install.mjs';
import type { Conversation, FakeModelApi } from '../doubles/fake-model-api/fake-model-api.mjs';
import {
  assertOnlyDummy,
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
import { useProjects } from './support/suite-projects.ts';

const workers = 8;

suite('an account at its limit', function () {
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

  test('nothing new starts, no attempt is used, nothing runs twice, and all tasks complete after the reset', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `q${String(at + 1).padStart(2, '0')}`);
    const conversations: Conversation[] = [
      ...ids.map((id) => goesOn(id, [writes(id), says(`Gone on with ${id}.`)])),
      ...ids.map((id) => conversation(id, [writes(id), says(`Wrote ${id}.`)])),
    ];
    fake.setScript({ conversations });
    const here = project({
      env: { ...claudeEnvironment(claude, fake), CLAUDE_CODE_MAX_RETRIES: '0' },
    });
    await beginPlan(here, ids);
    const run = here.start(['run', '--workers', String(workers), '--json'], {
      timeoutMs: 280_000,
    });
    await eventually('five tasks are done', () => landedTasks(here).length >= 5, 180_000);
    // With an API key, the end of the limit is unknown: the account pauses for a minute.
    const headers = { 'anthropic-ratelimit-unified-status': 'rejected' };
    fake.setScript({ conversations, faults: [{ http: 429, message: 'usage limit', headers }] });
    await run.line((line) => line.includes('"task.waiting"'));
    const tasks = await eventually('all agents are parked', async () => {
      const all = (await here.status()).tasks;
      return all.some(({ status }) => ['claimed', 'in_progress'].includes(status)) ? null : all;
    });
    const parkedMs = Date.now();
    const left = tasks.find(({ status }) => status === 'ready');
    const { reasons } = await here.json<{ reasons: string[] }>(['why', left?.id ?? '']);
    assert.match(reasons.join(' '), /out of quota until/);
    fake.setScript({ conversations });
    const done = await run.ended;
    assert.equal(done.code, 0, `${done.stdout.slice(-3000)}\n${done.stderr}`);

    assert.deepEqual([...landedTasks(here)].sort(), ids);
    for (const task of (await here.status()).tasks) {
      assert.deepEqual([task.id, task.status, task.attempts], [task.id, 'completed', 0]);
    }
    const events = await here.events();
    const starts = events.filter(({ type }) => type === 'task.claimed' || type === 'task.resumed');
    const waits = events.filter(({ type }) => type === 'task.waiting');
    const limitedAtMs = waits[0]?.at_ms ?? 0;
    assert.ok(waits.length > 0 && waits.length <= workers, `${waits.length} were parked`);
    // Each task's own time includes up to two seconds of randomness, and is shown in whole seconds.
    const untilMs = Math.max(...waits.map(({ data }) => Number(data['until']))) * 1_000 - 3_000;
    assert.ok(untilMs > parkedMs);
    assert.deepEqual(
      fake.requests.filter(({ at }) => Date.parse(at) > parkedMs && Date.parse(at) < untilMs),
      [],
      'nobody asks the provider before the reset',
    );
    const within = starts.filter(({ at_ms: ms }) => ms > limitedAtMs && ms < untilMs);
    assert.deepEqual(within, [], 'nothing starts before the reset');
    for (const id of ids) {
      const parked = waits.filter(({ task_id: task }) => task === id).length;
      assert.equal(starts.filter(({ task_id: task }) => task === id).length, 1 + parked, id);
    }
    // Not all at once: a quarter of the workers, until it is known that the limit has ended.
    const first = events.filter(({ at_ms: ms }) => ms >= untilMs && ms < untilMs + 12_000);
    let [atWork, most] = [0, 0];
    for (const { type } of first) {
      if (type === 'task.claimed' || type === 'task.resumed') atWork += 1;
      if (type === 'agent.ended') atWork -= 1;
      most = Math.max(most, atWork);
    }
    assert.ok(most >= 1 && most <= workers / 4, `${most} at once after the reset`);
    const sessions = new Map<string, Set<string | undefined>>();
    for (const { conversation: name = '', session } of fake.requests) {
      const id = name.split(' ')[0] ?? '';
      if (ids.includes(id)) sessions.set(id, (sessions.get(id) ?? new Set()).add(session));
    }
    for (const id of ids) assert.equal(sessions.get(id)?.size, 1, `one session for ${id}`);
    assertOnlyDummy(fake);
  });
});
