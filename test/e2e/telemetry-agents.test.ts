// One trace from the epic to the model call: the real Claude Code and Codex send their own spans
// below Drover's, and a backend that is killed while it sends leaves no gap.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { realAgents, writeAgentSettings } from '../agents/real-agents.ts';
import { ensureAgents } from '../agents-under-test/install.mjs';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import {
  claudeEnvironment,
  conversation,
  says,
  startModelApi,
  useClaude,
  writes,
} from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { byId, endMs, pathTo, receivedSpans, sorted, spansIn, startMs } from './support/spans.ts';
import { useProjects } from './support/suite-projects.ts';

const drovers = '"name":"drover"';

suite('the telemetry of a real Claude Code', function () {
  this.timeout(240_000);
  const project = useProjects();
  const real = useClaude();
  let receiver: WebReceiver;

  setup(async () => {
    receiver = await startWebReceiver();
  });

  teardown(() => receiver.close());

  test('the backend is killed five times, and one trace leads from the epic to the model call', async () => {
    real.fake.setScript({
      conversations: [conversation('one', [writes('one'), says('Wrote one.')])],
    });
    const here = project({
      env: { ...claudeEnvironment(real.claude, real.fake), DROVER_OTEL_ENDPOINT: receiver.url },
      settings: '[telemetry]\nenabled = true\nagents = true\n',
    });
    // Drover's requests are accepted but never answered, so each kill happens during an export.
    receiver.answer = (response, post) => {
      if (!post.body.includes(drovers)) response.end('{}');
    };
    await beginPlan(here, [
      { id: 'e', type: 'epic', title: 'An epic' },
      { id: 'one', epic_id: 'e' },
    ]);
    await here.expect(0, ['run', '--epic', 'e', '--gate', 'true']);
    const posts = (): number =>
      receiver.received.filter(({ body }) => body.includes(drovers)).length;
    for (let kill = 1; kill <= 5; kill += 1) {
      await eventually('spans are sent', () => posts() >= kill);
      assert.equal(await here.killBackend(), true);
      if (kill === 5) receiver.answer = (response) => response.end('{}');
      await here.expect(0, ['webhooks', 'retry']);
    }
    const own = spansIn(await here.expect(0, ['trace', 'export', 'e']));
    const arrived = (): ReturnType<typeof byId> => byId(receivedSpans(receiver.received));
    const isOwn = ({ name }: { name: string }): boolean => name.startsWith('drover.');
    await eventually(
      'all spans have arrived',
      () => [...arrived().values()].filter(isOwn).length === own.length,
    );
    const all = [...arrived().values()];
    assert.deepEqual(sorted(all.filter(isOwn)), sorted(own));
    // The same id always has the same content, however often it was sent.
    for (const span of receivedSpans(receiver.received).filter(isOwn))
      assert.deepEqual(span, arrived().get(`${span.traceId}/${span.spanId}`));
    assert.equal(new Set(all.map(({ traceId }) => traceId)).size, 1);
    const calls = all.filter(({ name }) => name === 'claude_code.llm_request');
    assert.equal(calls.length, 2);
    for (const call of calls)
      assert.deepEqual(pathTo(call, all), [
        'drover.workflow.run',
        'drover.task.execute',
        'drover.agent.execute',
        'claude_code.interaction',
        'claude_code.llm_request',
      ]);

    const agent = own.find(({ name }) => name === 'drover.agent.execute');
    assert.ok(agent !== undefined);
    const told = await here.events();
    const at = (type: string): number | undefined => told.find((one) => one.type === type)?.at_ms;
    assert.deepEqual([startMs(agent), endMs(agent)], [at('worktree.ready'), at('agent.ended')]);
    for (const call of calls) {
      assert.ok(startMs(call) >= startMs(agent) && endMs(call) <= endMs(agent));
    }
    const root = own.find(({ name }) => name === 'drover.workflow.run');
    assert.ok(root !== undefined);
    assert.deepEqual([startMs(root), endMs(root)], [at('run.started'), at('run.finished')]);
    assert.deepEqual(root.attributes.find(({ key }) => key === 'drover.epic.id')?.value, {
      stringValue: 'e',
    });
  });
});

suite('the telemetry of a real Codex', function () {
  this.timeout(240_000);
  const project = useProjects();

  test("its spans are below Drover's once its own settings name the collector", async () => {
    const codex = realAgents.find(({ kind }) => kind === 'codex') ?? assert.fail('no Codex');
    const programs = await ensureAgents();
    const fake = await startModelApi();
    const receiver = await startWebReceiver();
    try {
      const echo = { tools: [{ name: 'exec_command', input: { cmd: 'echo one > one.txt' } }] };
      fake.setScript({ conversations: [conversation('one', [echo, says('Wrote one.')])] });
      const variables = Object.entries(codex.env(fake.url));
      const here = project({
        env: {
          DROVER_AGENT_TYPE: 'codex',
          DROVER_AGENT_PATH: programs.codex,
          DROVER_OTEL_ENDPOINT: receiver.url,
        },
        settings: [
          '[agent.env]',
          ...variables.map(([name, value]) => `${name} = "${value}"`),
          '[telemetry]\nenabled = true\nagents = true\n',
        ].join('\n'),
      });
      const { HOME: home = '' } = here.env;
      writeAgentSettings(codex, home, fake.url);
      const collector = `{ endpoint = "${receiver.url}/v1/traces", protocol = "json" }`;
      const own = `\n[otel]\ntrace_exporter = { otlp-http = ${collector} }\n`;
      appendFileSync(join(home, '.codex', 'config.toml'), own);
      receiver.answer = (response) => response.end('{}');
      await beginPlan(here, [{ id: 'one' }]);
      await here.expect(0, ['run', '--gate', 'true']);
      const drovers = spansIn(await here.expect(0, ['trace', 'export', 'one']));
      const above = ['drover.workflow.run', 'drover.task.execute', 'drover.agent.execute'];
      await eventually('its turn stands below the agent', () => {
        const all = [...byId(receivedSpans(receiver.received)).values()];
        const turn = all.find(({ name }) => name === 'session_task.turn');
        if (turn === undefined) return false;
        return (
          pathTo(turn, [...all, ...drovers])
            .slice(0, 3)
            .join() === above.join()
        );
      });
    } finally {
      await receiver.close();
      await fake.close();
    }
  });
});
