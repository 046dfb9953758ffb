// Task templates through the real command: filled, refused with the known names, and added with
// their sub-tasks in one step.

import assert from 'node:assert/strict';
import { useProjects } from './support/suite-projects.ts';

const settings = `
default_labels = ["team"]

[templates.bug]
title = "Fix: {{title}}"
description = "Seen in {{area}}."
accept = ["A test for {{area}}."]
labels = ["bug"]
priority = "high"
type = "bug"
plan = true
sub_tasks = ["Reproduce it in {{area}}", "Cure it"]

[templates.chore]
title = "Update the dependencies"
`;

suite('task templates', function () {
  this.timeout(60_000);
  const project = useProjects();

  test('a template fills omitted fields; its sub-tasks are added too', async () => {
    const here = project({ settings });
    await here.expect(0, ['init']);
    const set = ['--template', 'bug', '--set', 'area=a=b {{x}}'];
    const id = await here.add('Crash', ...set, '--label', 'mine', '--priority', '3');
    const task = await here.task(id);
    assert.equal(task.title, 'Fix: Crash');
    assert.equal(
      task.description,
      'Seen in a=b {{x}}.\n\nAcceptance Criteria:\n- A test for a=b {{x}}.',
    );
    assert.deepEqual(task.labels, ['team', 'bug', 'mine']);
    assert.deepEqual([task.priority, task.type, task.plan], [3, 'bug', true]);
    const { tasks } = await here.status();
    assert.deepEqual(
      tasks.filter((one) => one.parent_id === id).map(({ title }) => title),
      ['Reproduce it in a=b {{x}}', 'Cure it'],
    );
    const chore = await here.json<{ id: string }>(['add', '--template', 'chore']);
    assert.equal((await here.task(chore.id)).title, 'Update the dependencies');
    const list = await here.json<{ templates: unknown }>(['templates']);
    assert.deepEqual(list.templates, [
      { name: 'bug', title: 'Fix: {{title}}', placeholders: ['title', 'area'] },
      { name: 'chore', title: 'Update the dependencies', placeholders: [] },
    ]);
    assert.match(await here.expect(0, ['templates']), /^bug {2}Fix: .*\(needs title, area\)$/m);
  });

  const refused: readonly (readonly [number, readonly string[], RegExp])[] = [
    [
      3,
      ['add', 'T', '--template', 'bgu'],
      /Template `bgu` does not exist; defined templates: bug, chore/,
    ],
    [3, ['add', 'T', '--template', 'bug'], /needs area: give --set area=…/],
    [
      3,
      ['add', 'T', '--template', 'bug', '--set', 'x=1'],
      /no placeholder `x`; it has title, area/,
    ],
    [3, ['add', 'T', '--set', 'x=1'], /name it with --template/],
    [64, ['add'], /missing required argument 'title'/],
    [64, ['add', 'T', '--set', 'x'], /key=value/],
  ];
  test('a mistake is refused with the list of known names, and nothing is added', async () => {
    const here = project({ settings });
    await here.expect(0, ['init']);
    for (const [code, args, expected] of refused) {
      const done = await here.drover(args);
      assert.equal(done.code, code, `${args.join(' ')}\n${done.stderr}`);
      assert.match(done.stderr, expected);
    }
    assert.equal((await here.status()).tasks.length, 0);
  });

  test('a template that cannot be read stops the run and names the line', async () => {
    const here = project();
    await here.expect(0, ['init']);
    here.write('repo/.drover.toml', '\n[templates.bug]\ntitel = "x"\n');
    const done = await here.drover(['run']);
    assert.equal(done.code, 3);
    assert.match(
      done.stderr,
      /\.drover\.toml, line [23]: `templates` .*`titel` in \[templates\.bug\]/,
    );
  });
});
