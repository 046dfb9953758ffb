// The address for traces, as people write it, and the agents' variables.

import assert from 'node:assert/strict';
import {
  agentTelemetry,
  readDeployment,
  isSampled,
  parseOtlpEndpoint,
} from '../../../server/core/settings/telemetry-settings.ts';
import { telemetryVariables } from '../../../server/telemetry/export.ts';
import { hashHex } from '../../../server/store/rows/hex-of.ts';
import { otlpHeaders } from '../../../server/telemetry/exporter.ts';

suite('telemetry settings', () => {
  test("a collector is a URL or a host, and gRPC's port is replaced with HTTP's", () => {
    const traces = (text: string): string | undefined => parseOtlpEndpoint(text)?.traces;
    assert.equal(traces('localhost:4317'), 'http://localhost:4318/v1/traces');
    assert.match(parseOtlpEndpoint('localhost:4317')?.note ?? '', /OTLP over HTTP/);
    assert.equal(parseOtlpEndpoint('localhost:9000')?.note, null);
    assert.equal(traces('localhost:9000'), 'http://localhost:9000/v1/traces');
    assert.equal(traces('collector'), 'http://collector:4318/v1/traces');
    assert.equal(traces('https://a.example/otlp/'), 'https://a.example/otlp/v1/traces');
    assert.equal(traces('http://a.example:4318/v1/traces'), 'http://a.example:4318/v1/traces');
    for (const wrong of ['', 'ftp://a', 'a b', 'http://', 'https://u:p@a.example/', 'a:b:c'])
      assert.equal(parseOtlpEndpoint(wrong), null, wrong);
  });

  test('agents get the parent of their spans, and more if that is enabled', () => {
    const of = { runId: 'run-1', taskId: 'task-1', attempt: 2 };
    const variables = (enabled: boolean, agents: boolean, kind = 'claude') => {
      const otel = { enabled, agents, endpoint: 'http://127.0.0.1:4318', sampling: null };
      const environment = { OTEL_EXPORTER_OTLP_HEADERS: 'a=b' };
      return telemetryVariables({ settings: { otel }, environment } as never, kind, of);
    };
    assert.deepEqual(variables(false, true), {});
    assert.deepEqual(Object.keys(variables(true, false)), ['TRACEPARENT']);
    assert.match(variables(true, false)['TRACEPARENT'] ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const claude = variables(true, true);
    assert.equal(claude['OTEL_EXPORTER_OTLP_ENDPOINT'], 'http://127.0.0.1:4318');
    assert.equal(claude['OTEL_EXPORTER_OTLP_HEADERS'], 'a=b');
    assert.equal(claude['CLAUDE_CODE_ENABLE_TELEMETRY'], '1');
    assert.equal(
      claude['OTEL_RESOURCE_ATTRIBUTES'],
      'drover.workflow.id=run-1,drover.task.id=task-1,drover.task.attempt=2',
    );
    assert.deepEqual(Object.keys(variables(true, true, 'command')), ['TRACEPARENT']);
    const endpoint = parseOtlpEndpoint('collector');
    assert.ok(endpoint !== null);
    assert.equal(agentTelemetry('copilot', endpoint)['COPILOT_OTEL_ENABLED'], 'true');
  });

  test('a run is sampled as a whole, by its id, and production sends a tenth', () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => hashHex(`${at}`, 32));
    const share = (sampling: number | null, deployment: string): number =>
      ids.filter((id) => isSampled(id, sampling, deployment)).length / ids.length;
    assert.deepEqual(
      [share(null, 'development'), share(1, 'production'), share(0, 'x')],
      [1, 1, 0],
    );
    for (const [found, wanted] of [
      [share(null, 'production'), 0.1],
      [share(0.5, 'production'), 0.5],
    ] as const)
      assert.ok(Math.abs(found - wanted) < 0.03, `${found}`);
    assert.equal(readDeployment({ DROVER_ENV: '', ENVIRONMENT: 'staging' }), 'staging');
    assert.equal(readDeployment({ DROVER_ENV: 'a', ENVIRONMENT: 'b' }), 'a');
    assert.equal(readDeployment({}), 'development');
  });

  test("headers are read in OpenTelemetry's format", () => {
    assert.deepEqual(otlpHeaders('authorization=Bearer%20x, b=1,bad name=2,,=3'), {
      authorization: 'Bearer x',
      b: '1',
    });
  });
});
