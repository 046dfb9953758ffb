// The dashboard and the page of the docs are made from the table of metrics.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricKinds } from '../../../../server/core/history/metrics.ts';
import { dashboardText, withTelemetry } from '../../../docs/telemetry.ts';

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs');

suite('telemetry documents', () => {
  test('are as "npm run docs" writes them', () => {
    const page = readFileSync(join(docs, 'telemetry.md'), 'utf8');
    assert.equal(page, withTelemetry(page));
    const file = join(docs, 'telemetry', 'grafana-prometheus.json');
    assert.equal(readFileSync(file, 'utf8'), dashboardText());
  });

  test('each query names metrics and labels that exist', () => {
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
        assert.ok((metric.labels as readonly string[]).includes(label), legendFormat);
      }
    }
  });
});
