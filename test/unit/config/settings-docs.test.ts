// Every setting is documented.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  settingKeys,
  settingTable,
  type SettingDefinition,
} from '../../../server/core/settings/settings.ts';
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';
import * as z from 'zod';
import { sampleToml } from '../../../server/config/sample.ts';
import { settingsSchema, settingsSchemaText } from '../../docs/settings-schema.ts';
import { withSettings } from '../../docs/settings-table.ts';

suite('the document of settings', () => {
  const text = readFileSync('docs/settings.md', 'utf8');

  test('it names every environment variable that is read (npm run docs writes it)', () => {
    const missing = settingKeys
      .map((key) => (settingTable[key] as SettingDefinition).env)
      .filter((name) => name !== undefined && !text.includes(`\`${name}\``));
    assert.deepEqual(missing, []);
    const ofGo = ['WORKERS', 'TASK_TIMEOUT', 'DATABASE_URL', 'OTEL_ENABLED', 'OTEL_ENDPOINT'];
    for (const name of ofGo) assert.ok(text.includes(`\`DROVER_${name}\``), name);
  });

  test('it names the variables of every agent, setup and gate', () => {
    const sources = ['server/workflows/attempt/worktree-step.ts', 'docs/agents.md'];
    const [code = '', page = ''] = sources.map((path) => readFileSync(path, 'utf8'));
    const names = code.match(/\bDROVER_[A-Z_]+(?=:)/gu) ?? [];
    assert.ok(names.length >= 3);
    for (const name of names) assert.ok(page.includes(`\`${name}\``), name);
  });

  test('it is generated from the settings', () => {
    const made = withSettings('<!-- table: begin --> stale words <!-- table: end -->');
    assert.match(made, /\| `max_workers` \| `DROVER_WORKERS` \| `--workers` \|/);
    assert.doesNotMatch(made, /stale words/);
  });
});

suite('the schema of .drover.toml', () => {
  const schema = z.fromJSONSchema(settingsSchema() as never);
  const tree = (toml: string): unknown => getStaticTOMLValue(parseTOML(toml));

  test('it is the shipped schema (npm run docs writes it)', () => {
    assert.equal(readFileSync('media/drover.schema.json', 'utf8'), settingsSchemaText());
  });

  test('it accepts the sample with every key that the sample explains', () => {
    const toml = sampleToml().replaceAll(/^# (?=(\[[\w.]+\]|\w+ = ))/gm, '');
    const found = schema.safeParse(tree(toml));
    assert.ok(found.success, JSON.stringify(found.error?.issues));
  });

  test('it refuses the same values as Drover', () => {
    for (const toml of [
      'max_workers = 0',
      'agent = "nobody"',
      'task_timeout = "soon"',
      '[gate]\ncomand = "npm test"',
      '[land]\nmode = "later"',
      '[agents.codex]\nprogram = "x"',
    ]) {
      assert.equal(schema.safeParse(tree(toml)).success, false, toml);
    }
  });
});
