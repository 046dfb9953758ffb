// Traces of a real run, sent as spans end: a backend that is killed while it sends leaves no gap,
// and agents' spans are below their task's span.

import assert from 'node:assert/strict';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import { eventually } from './support/eventually.ts';
import { byId, receivedSpans, sorted, spansIn } from './support/spans.ts';
import { useProjects } from './support/suite-projects.ts';

const agent = `
cat > /dev/null
echo "$TRACEPARENT" > "work-$id.txt"
`;

suite('telemetry of a run', function () {
  this.timeout(240_000);
  const project = useProjects();
  let receiver: WebReceiver;

  setup(async () => {
    receiver = await startWebReceiver();
  });

  teardown(() => receiver.close());

  test('a backend is killed five times while it sends, and every span arrives under its own id', async () => {
    const env = { DROVER_OTEL_ENABLED: 'true', DROVER_OTEL_ENDPOINT: receiver.url };
    const here = project({ agent, env });
    await here.expect(0, ['init']);
    const ids = [await here.add('One'), await here.add('Two')];
    // Accepts requests but never answers.
    receiver.answer = () => {};
    await here.expect(0, ['run', '--gate', 'true']);
    for (let kill = 1; kill <= 5; kill += 1) {
      await eventually('spans are sent', () => receiver.received.length >= kill);
      assert.equal(await here.killBackend(), true);
      if (kill === 5) receiver.answer = (response) => response.end('{}');
      await here.expect(0, ['webhooks', 'retry']);
    }
    const { run } = await here.status();
    const expected = spansIn(await here.expect(0, ['trace', 'export', run?.id ?? '']));
    assert.ok(expected.some(({ name }) => name === 'drover.workflow.run'));
    const received = (): ReturnType<typeof byId> => byId(receivedSpans(receiver.received));
    await eventually('all spans have arrived', () => received().size === expected.length);
    assert.deepEqual(sorted(received().values()), sorted(expected));
    // The same id always has the same content, however often it was sent.
    for (const span of receivedSpans(receiver.received))
      assert.deepEqual(span, received().get(`${span.traceId}/${span.spanId}`));
    assert.deepEqual([...new Set(receiver.received.map(({ path }) => path))], ['/v1/traces']);

    const agents = expected.filter(({ name }) => name === 'drover.agent.execute');
    const told = ids.map((id) => here.git('show', `main:work-${id}.txt`).trim());
    assert.deepEqual(
      told.toSorted(),
      agents.map((span) => `00-${span.traceId}-${span.spanId}-01`).toSorted(),
    );
  });

  test('only doctor reports a missing collector', async () => {
    await receiver.close();
    const env = { DROVER_OTEL_ENABLED: 'true', DROVER_OTEL_ENDPOINT: receiver.url };
    const here = project({ agent, env });
    await here.expect(0, ['init']);
    await here.add('One');
    const output = await here.expect(0, ['run', '--gate', 'true']);
    assert.doesNotMatch(output, /collector|telemetry/i);
    const { checks } = await eventually('doctor says so', async () => {
      const report = await here.json<{
        checks: { name: string; ok: boolean; message: string }[];
      }>(['doctor']);
      return report.checks.some(({ name, ok }) => name === 'telemetry' && !ok) ? report : null;
    });
    const check = checks.find(({ name }) => name === 'telemetry');
    assert.match(check?.message ?? '', /The collector cannot be reached\. .*\(ECONNREFUSED\)/);
    receiver = await startWebReceiver();
  });
});
