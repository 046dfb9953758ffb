// The dashboard and the page of the docs are made from the table of metrics.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricKinds } from '../../../../server/core/history/metric-kinds.ts';
import { dashboardText, withTelemetry } from '../../../docs/telemetry.ts';

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs');

suite('telemetry documents', () => {
  test('they match the output of "npm run docs"', () => {
    const page = readFileSync(join(docs, 'telemetry.md'), 'utf8');
    assert.equal(page, withTelemetry(page));
    const file = join(docs, 'telemetry', 'grafana-prometheus.json');
    assert.equal(readFileSync(file, 'utf8'), dashboardText());
  });

  test('each query names existing metrics and labels', () => {
    const { panels } = JSON.parse(dashboardText()) as {
      panels: { targets: { expr: string; legendFormat: string }[] }[];
    };
    assert.ok(panels.length > 5);
    for (const { expr, legendFormat } of panels.flatMap((panel) => panel.targets)) {
      const names = [...expr.matchAll(/drover_[a-z_]+/gu)].map(([name]) =>
        name.replace(/_bucket$/u, ''),
      );
      assert.equal(names.length, 1, expr);
      const metric = metricKinds.find(({ name }) => name === names[0]);
      assert.ok(metric !== undefined, expr);
      for (const [, label = ''] of legendFormat.matchAll(/\{\{([a-z_]+)\}\}/gu)) {
        const labels: readonly string[] = ['project', ...metric.labels];
        assert.ok(labels.includes(label), legendFormat);
      }
    }
  });

  test('the alerts name existing metrics, labels and commands', () => {
    const rules = readFileSync(join(docs, 'telemetry', 'alerts.yml'), 'utf8');
    assert.equal([...rules.matchAll(/^ +- alert: /gmu)].length, 8);
    const commands = readFileSync(join(docs, '..', 'test', 'golden', 'help.txt'), 'utf8');
    for (const [, command = ''] of rules.matchAll(/"drover ([a-z]+)/gu)) {
      assert.match(commands, new RegExp(`^  ${command}\\b`, 'mu'));
    }
    for (const [, expr = ''] of rules.matchAll(/expr: (.*)$/gmu)) {
      for (const [, name = '', label] of expr.matchAll(/(drover_[a-z_]+)(?:\{([a-z_]+)=)?/gu)) {
        const metric = metricKinds.find((kind) => kind.name === name);
        assert.ok(metric !== undefined, expr);
        if (label !== undefined) assert.ok((metric.labels as readonly string[]).includes(label));
      }
    }
  });
});
