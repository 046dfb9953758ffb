// How settings are found from VS Code: the bundled guide, and help in .drover.toml.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guidePage, guidePages } from '../../../build/guide.mjs';
import {
  listOffers,
  findSetting,
  type SettingSchema,
} from '../../../extension/settings-file/toml-help.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(top, path), 'utf8');
const schema = JSON.parse(read('media/drover.schema.json')) as SettingSchema;

suite('settings from VS Code', () => {
  test('the pages of the guide link only to bundled pages', () => {
    for (const name of guidePages) {
      const links = [...guidePage(read(`docs/${name}`)).matchAll(/\]\(([^)]+)\)/gu)];
      for (const [, target = ''] of links) {
        const [file = ''] = target.split('#', 1);
        const isHere = file === '' || guidePages.includes(file) || /^https?:/u.test(target);
        assert.ok(isHere, `${name}: ${target}`);
      }
    }
    assert.equal(guidePage('[a](b.md#c) [w](webhooks.md)'), 'a [w](webhooks.md)');
  });

  test('the first page links to webhooks, telemetry and retention', () => {
    const page = guidePage(read('docs/settings.md'));
    for (const name of ['webhooks.md', 'telemetry.md', 'retention.md']) {
      assert.ok(page.includes(`](${name}`), name);
    }
  });

  const offered = (text: string): readonly string[] => {
    const lines = text.split('\n');
    const last = lines.length - 1;
    return listOffers(schema, lines, last, lines[last]?.length ?? 0).map(({ text: each }) => each);
  };

  test('an empty line offers settings and tables, and a table offers its keys with their defaults', () => {
    const first = offered('');
    for (const each of ['[webhooks]', '[telemetry]', '[retention]', 'max_workers = 3']) {
      assert.ok(first.includes(each), each);
    }
    assert.ok(offered('[gate]\ncommand = "npm test"\nti').includes('timeout = "30m"'));
    assert.ok(offered('[').includes('webhooks'));
    assert.deepEqual(offered('[nowhere]\n'), []);
    assert.deepEqual(offered('# a comment '), []);
  });

  test('a value offers its choices, quoted once', () => {
    assert.deepEqual(offered('[telemetry]\nenabled = '), ['true', 'false']);
    assert.ok(offered('[agent]\nkind = ').includes('"claude"'));
    assert.ok(offered('[agent]\nkind = "').includes('claude'));
  });

  test('a key and a table are explained at their name, and nowhere else', () => {
    const lines = ['[retention]', 'events = "90d"', '# past = "90d"', 'text = "events"'];
    assert.match(findSetting(schema, lines, 1, 'events')?.about ?? '', /How long to keep events/);
    assert.match(findSetting(schema, lines, 2, 'past')?.about ?? '', /Default: `"90d"`/);
    assert.match(findSetting(schema, lines, 0, 'retention')?.about ?? '', /events, past/);
    assert.equal(findSetting(schema, lines, 3, 'events'), null);
    assert.equal(findSetting(schema, lines, 1, 'd'), null);
  });
});
