// Task templates: parsing, refusals with the known names, and how placeholders are filled.

import assert from 'node:assert/strict';
import { Refusal } from '../../../server/core/failure.ts';
import {
  fillTemplate,
  listPlaceholders,
  readTemplates,
  type TaskTemplates,
} from '../../../server/core/exchange/templates.ts';

const templates: TaskTemplates = {
  bug: {
    title: 'Fix: {{title}}',
    description: 'Seen in {{area}} by {{ who }}, {{area}} again.',
    accept: ['A test for {{area}}.'],
    labels: ['bug', 'area-{{area}}'],
    priority: 'high',
    gate: 'npm test',
    plan: true,
    sub_tasks: ['Reproduce it in {{area}}', 'Cure it'],
  },
  chore: { title: 'Update the dependencies', type: 'other' },
  bare: { labels: ['x'] },
};

function refusal(body: () => unknown): string {
  try {
    body();
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  return assert.fail('it was not refused');
}

suite('task templates', () => {
  test('placeholders are filled everywhere, once', () => {
    const values = { area: '{{who}} $& lists', who: 'Ann' };
    const filled = fillTemplate(templates, 'bug', { title: ' Crash ', values });
    assert.equal(filled.title, 'Fix: Crash');
    assert.equal(filled.description, 'Seen in {{who}} $& lists by Ann, {{who}} $& lists again.');
    assert.deepEqual(filled.accept, ['A test for {{who}} $& lists.']);
    assert.deepEqual(filled.labels, ['bug', 'area-{{who}} $& lists']);
    assert.deepEqual(filled.sub_tasks, ['Reproduce it in {{who}} $& lists', 'Cure it']);
    assert.deepEqual([filled.priority, filled.gate, filled.plan], ['high', 'npm test', true]);
    assert.deepEqual(listPlaceholders(templates['bug'] ?? {}), ['title', 'area', 'who']);
  });

  test("the title is the template's own, a given one, or the template is refused", () => {
    const title = (name: string, given: string): string =>
      fillTemplate(templates, name, { title: given, values: {} }).title;
    assert.equal(title('chore', ''), 'Update the dependencies');
    assert.equal(title('chore', 'Update one'), 'Update one');
    assert.equal(title('bare', 'Any'), 'Any');
    assert.match(
      refusal(() => title('bare', '')),
      /"bare" has no title; give one/,
    );
  });

  const refused: readonly (readonly [string, string, string, Record<string, string>, RegExp])[] = [
    [
      'an unknown template',
      'bgu',
      'T',
      {},
      /Template `bgu` does not exist; defined templates: bug, chore, bare\./,
    ],
    ['a name of every object', 'constructor', 'T', {}, /Template `constructor` does not exist/],
    [
      'an unknown value',
      'bug',
      'T',
      { aera: 'x' },
      /no placeholder `aera`; it has title, area, who/,
    ],
    ['a missing value', 'bug', 'T', { area: 'x' }, /needs who: give --set who=…; it has title/],
    ['a missing title', 'bug', '', { area: 'x', who: 'y' }, /needs title: give a title/],
    ['a value without a place', 'bare', 'T', { area: 'x' }, /no placeholder `area`; it has none/],
  ];
  for (const [what, name, title, values, expected] of refused) {
    test(`${what} is refused with the known values`, () => {
      assert.match(
        refusal(() => fillTemplate(templates, name, { title, values })),
        expected,
      );
    });
  }

  test('without any template, the message shows how to write one', () => {
    const message = refusal(() => fillTemplate({}, 'bug', { title: 'T', values: {} }));
    assert.match(message, /\[templates\.<name>\] into \.drover\.toml/);
  });

  const bad: readonly (readonly [unknown, RegExp])[] = [
    ['text', /tables of templates/],
    [{ bug: 'text' }, /a table in \[templates\.bug\]/],
    [{ bug: { titel: 'x' } }, /one of title, .* in place of `titel` in \[templates\.bug\]/],
    [{ bug: { title: 5 } }, /a string for `title` in \[templates\.bug\]/],
    [{ bug: { accept: 'one' } }, /a list of strings for `accept`/],
    [{ bug: { agent: 'nobody' } }, /one of claude, .* for `agent`/],
    [{ bug: { plan: 'yes' } }, /true or false for `plan`/],
    [{ bug: { gate: 'run {{what}}' } }, /without placeholders for `gate`/],
    [{ 'b u g': {} }, /a template's name/],
    [{ bug: { sub_tasks: Array.from({ length: 51 }, () => 'x') } }, /at most 50 sub_tasks/],
  ];
  test('a forbidden part of a template is reported with its place', () => {
    for (const [raw, expected] of bad) {
      const read = readTemplates(raw);
      assert.match(read.ok ? 'no error' : read.error, expected);
    }
    assert.deepEqual(readTemplates(templates), { ok: true, value: templates });
  });
});
