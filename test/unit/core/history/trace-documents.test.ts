// What the documents say about traces: the table of spans, the ClickHouse table and dashboard, and
// the collector's configuration.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spanAttributes, spanKinds } from '../../../../server/core/history/span-kinds.ts';
import { clickhouseTableText, traceDashboardText } from '../../../docs/clickhouse.ts';
import { collectorConfig, collectorText } from '../../../docs/collector.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const written = (name: string): string =>
  readFileSync(join(root, 'docs', 'telemetry', name), 'utf8');

/** `string`, `number`, `boolean`, `duration`, or the keys below it. */
type Schema = string | { readonly [key: string]: Schema };

const schema = JSON.parse(
  readFileSync(join(root, 'test', 'fixtures', 'telemetry', 'collector-schema.json'), 'utf8'),
) as Readonly<Record<string, Schema>>;

function check(value: unknown, wanted: Schema | undefined, place: string): void {
  assert.ok(wanted !== undefined, `${place} is unknown to the collector`);
  if (typeof wanted !== 'string') {
    for (const [key, item] of Object.entries(value as object))
      check(item, wanted[key], `${place}.${key}`);
  } else if (wanted === 'duration') assert.match(String(value), /^\d+(ms|s|m|h)$/u, place);
  else assert.equal(typeof value, wanted, place);
}

suite('documents on traces', () => {
  test('they match the output of "npm run docs"', () => {
    assert.equal(written('clickhouse.sql'), clickhouseTableText());
    assert.equal(written('grafana-clickhouse.json'), traceDashboardText());
    assert.equal(written('collector.yaml'), collectorText());
  });

  test('each query names existing spans, attributes and columns', () => {
    const { panels } = JSON.parse(traceDashboardText()) as {
      panels: { targets: { rawSql: string }[] }[];
    };
    const known = new Set(Object.keys({ ...spanKinds, ...spanAttributes }));
    const columns = new Set(
      [...clickhouseTableText().matchAll(/^ {4}`([A-Za-z.]+)`/gmu)].map(([, name]) => name),
    );
    assert.ok(panels.length > 5);
    for (const { rawSql } of panels.flatMap((panel) => panel.targets)) {
      const names = [...rawSql.matchAll(/'((?:drover|gen_ai|error)\.[a-z_.]+)'/gu)];
      assert.ok(names.length > 0, rawSql);
      for (const [, name = ''] of names) assert.ok(known.has(name), `${name}: ${rawSql}`);
      for (const [name] of rawSql.matchAll(/\b[A-Z][a-z]+(?:[A-Z][a-z]+)*\b/gu))
        if (name !== 'Error') assert.ok(columns.has(name), `${name}: ${rawSql}`);
    }
  });

  test('the collector knows every key of its configuration, and each pipeline its parts', () => {
    const { service, ...components } = collectorConfig;
    for (const [kind, named] of Object.entries(components)) check(named, schema[kind], kind);
    for (const [signal, pipeline] of Object.entries(service.pipelines)) {
      for (const [kind, names] of Object.entries(pipeline) as [keyof typeof components, string[]][])
        for (const name of names) assert.ok(name in components[kind], `${signal}: ${kind} ${name}`);
    }
  });
});
