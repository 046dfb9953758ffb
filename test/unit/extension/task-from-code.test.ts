// Tasks made from the content of an editor.

import assert from 'node:assert/strict';
import { taskPlaces } from '../../../extension/commands/target.ts';
import { epicView } from '../../doubles/views.ts';
import { proposeTask, findTodo, type CodePlace } from '../../../extension/plan/task-from-code.ts';

const place: CodePlace = {
  path: 'src/cart.ts',
  firstLine: 3,
  lastLine: 3,
  languageId: 'typescript',
  text: 'const total = sum(items)',
};

suite('task from code', () => {
  test('a TODO is found in the comments of many languages, and nothing else is', () => {
    assert.equal(findTodo('// TODO: round the total'), 'round the total');
    assert.equal(findTodo('  # FIXME(ana) round it'), 'round it');
    assert.equal(findTodo('/* TODO round it */'), 'round it');
    assert.equal(findTodo('<!-- TODO: round it -->'), 'round it');
    assert.equal(findTodo('const todos = []'), null);
    assert.equal(findTodo('mastodon'), null);
    assert.equal(findTodo('// TODO'), '');
  });

  test('a problem gives the title, and all problems are in the description', () => {
    const problems = [
      { message: "Cannot find name 'sum'.\nDid you mean", source: 'ts 2304', line: 3 },
      { message: 'Unused.', source: '', line: 3 },
    ];
    const { title, description } = proposeTask(place, problems);
    assert.equal(title, "Fix: Cannot find name 'sum'.");
    assert.match(description, /^The editor reports problems in `src\/cart\.ts`, line 3:/);
    assert.match(description, /- line 3 \(ts 2304\): Cannot find name/);
    assert.match(description, /- line 3: Unused\./);
    assert.match(description, /```typescript\nconst total = sum\(items\)\n```$/);
  });

  test('a title contains the text of Markdown without its markup', () => {
    const titles = {
      '# Shop': 'Shop',
      '## Pay by card ##': 'Pay by card',
      '- [ ] **Ship** the `receipt`': 'Ship the receipt',
      '3. > Print it': 'Print it',
      '*Not* a list, C# and 2 * 3 * 4': '*Not* a list, C# and 2 * 3 * 4',
    };
    for (const [text, title] of Object.entries(titles)) {
      const markdown = { ...place, path: 'README.md', languageId: 'markdown', text };
      assert.equal(proposeTask(markdown, []).title, title);
    }
    assert.equal(proposeTask({ ...place, text: '# a comment' }, []).title, '# a comment');
  });

  test('landed epics come last among the places for a new task', () => {
    const epics = [
      epicView({ id: 'landed', landing_state: 'landed' }),
      epicView({ id: 'closed', status: 'closed' }),
      epicView({ id: 'open' }),
    ];
    assert.deepEqual(taskPlaces(epics), { open: [epics[2]], landed: [epics[0]] });
  });

  test('a TODO gives the title, and so does the first line of a selection', () => {
    const todo = proposeTask({ ...place, text: '// TODO: round the total' }, []);
    assert.equal(todo.title, 'round the total');
    const empty = proposeTask({ ...place, text: '// TODO' }, []);
    assert.equal(empty.title, 'Do what the TODO in src/cart.ts says');
    const selected = proposeTask({ ...place, lastLine: 5, text: '\n  a()\n  b()' }, []);
    assert.equal(selected.title, 'a()');
    assert.match(selected.description, /^It is about `src\/cart\.ts`, lines 3 to 5\./);
  });

  test('text with its own fences stays inside, and long text is cut', () => {
    const { description } = proposeTask({ ...place, text: 'a\n````\nb' }, []);
    assert.match(description, /\n`{5}typescript\na\n````\nb\n`{5}$/);
    const long = proposeTask({ ...place, text: 'x'.repeat(50_000) }, []);
    assert.ok(long.description.length < 9_000);
    assert.ok(long.title.length <= 120);
  });
});
