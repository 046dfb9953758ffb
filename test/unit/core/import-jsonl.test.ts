import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  maxLineLength,
  parseImport,
  parseImportLines,
} from '../../../server/core/exchange/import-jsonl.ts';
import { parseBeads } from '../../../server/core/exchange/import-beads.ts';
import {
  emptyProject,
  type ExistingProject,
  type ImportOptions,
  type ImportPlan,
  importProblemsMax,
} from '../../../server/core/exchange/import-types.ts';
import { taskRuleKeys } from '../../../server/core/exchange/task-rules.ts';

function projectOf(plan: ImportPlan): ExistingProject {
  return {
    tasks: new Map(plan.tasks.map((task) => [task.id, task])),
    epics: new Map(plan.epics.map((epic) => [epic.id, epic])),
  };
}

suite('import of single lines', () => {
  const head = '{"id":"A","type":"story","title":"A"';
  function check(
    lines: readonly string[],
    wanted: readonly string[],
    options: ImportOptions = {},
    existing: ExistingProject = emptyProject,
  ): ImportPlan {
    const plan = parseImportLines(lines, existing, options);
    const got = plan.problems.map(({ line, id, kind }) => `${line} ${id ?? '-'} ${kind}`);
    assert.deepEqual(got, wanted, lines.join('\n').slice(0, 500));
    return plan;
  }
  const story = (id: string, more: object = {}): string =>
    JSON.stringify({ id, type: 'story', title: id, ...more });
  const task = (id: string, more: object = {}): string =>
    JSON.stringify({ id, type: 'task', title: id, ...more });

  test('values are read', () => {
    const cases: readonly [string, string | null][] = [
      [`${head}}`, null],
      [`  ${head}}\t`, null],
      [`${head},"priority":null,"labels":null}`, null],
      [`${head},"priority":"URGENT"}`, null],
      [`${head},"priority":"100"}`, null],
      [`${head},"priority":1e1}`, null],
      [`${head},"priority":"-1"}`, 'priority'],
      [`${head},"priority":"101"}`, 'priority'],
      [`${head},"priority":"2.5"}`, 'priority'],
      [`${head},"priority":""}`, 'priority'],
      [`${head},"priority":true}`, 'priority'],
      [`${head},"priority":"constructor"}`, 'priority'],
      [`${head},"labels":["a",1]}`, 'field'],
      [`${head},"labels":["a\\u0007"]}`, 'text'],
      [`${head},"description":"a\\tb\\r\\nc"}`, null],
      [`${head},"description":"\\u009b31m"}`, 'text'],
      [`${head},"description":"\\ud800"}`, 'text'],
      [`${head},"description":5}`, 'text'],
      [`${head},"gate":5}`, 'field'],
      [`${head},"agent":"nobody"}`, 'field'],
      [`${head},"agent":"codex"}`, null],
      [`${head},"task_type":"epic"}`, 'field'],
      [`${head},"max_attempts":11}`, 'field'],
      [`${head},"max_attempts":1.5}`, 'field'],
      [`${head},"max_attempts":"3"}`, 'field'],
      [`${head},"plan":"yes"}`, 'field'],
      [`${head},"plan":true}`, null],
      [`${head},"estimated_hours":1e999}`, 'field'],
      [`${head},"estimated_hours":0.25}`, null],
      [`${head},"blocked_by":[""]}`, null],
      [`${head},"blocked_by":["A"]}`, 'loop'],
      [`${head},"epic_id":7}`, 'field'],
      [`${head},"__proto__":{"title":1}}`, null],
      ['{"id":"A","type":"story","title":null}', 'title'],
      [JSON.stringify({ id: 'A', type: 'story', title: 'x'.repeat(1_001) }), 'title'],
      [story('A', { description: 'x'.repeat(8 * 1024 * 1024 - 100) }), null],
      [story('A', { description: 'x'.repeat(8 * 1024 * 1024 + 1) }), 'json'],
      [`${head}`, 'json'],
      [`${head}} x`, 'json'],
      ['null', 'object'],
      ['5', 'object'],
    ];
    for (const [line, kind] of cases) {
      const plan = parseImportLines([line], emptyProject);
      assert.equal(plan.problems[0]?.kind ?? null, kind, line.slice(0, 200));
      assert.ok(plan.problems.length <= 1);
    }
  });

  test('ids are checked', () => {
    const cases: readonly [string, boolean][] = [
      ['task-abc.1.2', true],
      ['x'.repeat(64), true],
      ['x'.repeat(65), false],
      ['a..b', false],
      ['a.', false],
      ['a.lock', false],
      ['CON', false],
      ['nul.txt', false],
      ['com10', true],
      ['epic', false],
      ['Results', false],
      ['epic-1', true],
      ['a b', false],
      ['ä', false],
      ['', false],
    ];
    for (const [id, good] of cases) check([story(id)], good ? [] : [`1 ${id} id-unsafe`]);
  });

  test('the format of the file is checked', () => {
    assert.equal(parseImport(`\uFEFF# x\r\n\r\n  ${head}}\r\n`, emptyProject).tasks.length, 1);
    assert.equal(parseImport('', emptyProject).tasks.length, 0);
    const wide = story('A', { description: 'x\u2028y\u0085'.replace('\u0085', '') });
    assert.equal(parseImport(wide, emptyProject).tasks.length, 1);
    const long = `{"a":"${'x'.repeat(maxLineLength)}"}`;
    const plan = check([long], ['1 - json']);
    assert.match(plan.problems[0]?.message ?? '', /longer than 8 MB/);
    check([story('A'), story('B'), '# x'], ['2 - json'], { badUtf8Lines: [2, 3] });
  });

  test('a refused record causes the refusal of records that refer to it', () => {
    check(
      [
        story('A', { blocked_by: ['B'] }),
        story('B', { blocked_by: ['C'] }),
        story('C', { priority: 101 }),
      ],
      ['1 A reference-refused', '2 B reference-refused', '3 C priority'],
    );
    check(
      [
        story('A', { blocked_by: ['A'] }),
        task('S', { story_id: 'A' }),
        story('C', { blocked_by: ['S'] }),
      ],
      ['1 A loop', '2 S reference-refused', '3 C reference-refused'],
    );
    // If a refused line and a valid line have the same id, the id belongs to the valid line.
    check(
      [story('A'), story('A', { priority: 'x' }), story('B', { blocked_by: ['A'] })],
      ['2 A id-twice'],
    );
    check(
      [story('B', { blocked_by: ['../x'] }), story('../x')],
      ['1 B reference-refused', '2 ../x id-unsafe'],
    );
  });

  test('loops are refused', () => {
    check([task('A', { parent_id: 'B' }), task('B', { parent_id: 'A' })], ['1 A loop', '2 B loop']);
    check([task('A', { parent_id: 'A' })], ['1 A loop']);
    // A sub-task waits for the one before it.
    check(
      [
        story('P'),
        task('P1', { story_id: 'P', blocked_by: ['P2'] }),
        task('P2', { story_id: 'P' }),
      ],
      ['2 P1 loop'],
    );
    check(
      [
        story('P'),
        task('P1', { story_id: 'P' }),
        task('P2', { story_id: 'P', blocked_by: ['P1'] }),
      ],
      [],
    );
    // Each parent runs as a whole, so sub-tasks of two parents cannot wait for each other both
    // ways.
    const plan = check(
      [
        story('P'),
        story('Q'),
        task('P1', { story_id: 'P' }),
        task('P2', { story_id: 'P', blocked_by: ['Q1'] }),
        task('Q1', { story_id: 'Q' }),
        task('Q2', { story_id: 'Q', blocked_by: ['P1'] }),
      ],
      ['4 P2 loop', '6 Q2 loop'],
    );
    assert.match(plan.problems[0]?.message ?? '', /^P → Q → P \(a task runs as a whole/);
  });

  test("loops through the project's own tasks are refused", () => {
    const first = parseImportLines([story('X'), story('Y', { blocked_by: ['X'] })], emptyProject);
    check([task('X1', { parent_id: 'X', blocked_by: ['Y'] })], ['1 X1 loop'], {}, projectOf(first));
    check(
      [story('X', { blocked_by: ['Y'] })],
      ['1 X loop'],
      { onDiffers: 'update' },
      projectOf(first),
    );
  });

  test('positions of sub-tasks continue after those of the project', () => {
    const first = parseImportLines([story('P'), task('a', { story_id: 'P' })], emptyProject);
    const second = parseImportLines(
      [task('b', { story_id: 'P' }), task('a', { story_id: 'P' }), task('c', { story_id: 'P' })],
      projectOf(first),
    );
    assert.deepEqual(
      second.tasks.map(({ id, sequence }) => [id, sequence]),
      [
        ['b', 2],
        ['c', 3],
      ],
    );
  });

  test('an id that exists with other content is refused', () => {
    const first = projectOf(
      parseImportLines(
        [story('A'), story('B', { blocked_by: ['A'] }), '{"id":"E","type":"epic","title":"E"}'],
        emptyProject,
      ),
    );
    const lines = [
      story('A', { priority: 9 }),
      story('B', { blocked_by: ['A'] }),
      story('N', { blocked_by: ['A'] }),
    ];
    const refused = check(lines, ['1 A differs'], {}, first);
    assert.deepEqual(refused.differs, ['A']);
    const updated = check(lines, [], { onDiffers: 'update' }, first);
    assert.deepEqual([updated.updatedTasks[0]?.id, updated.unchanged.tasks], ['A', ['B']]);
    const renamed = check(lines, [], { onDiffers: 'rename' }, first);
    assert.deepEqual(
      renamed.tasks.map(({ id, blockedBy }) => [id, ...blockedBy]),
      [['A-2'], ['B-2', 'A-2'], ['N', 'A-2']],
    );
    assert.deepEqual(
      [...renamed.renamed],
      [
        ['A', 'A-2'],
        ['B', 'B-2'],
      ],
    );
    check([story('E')], ['1 E differs'], { onDiffers: 'update' }, first);
  });

  test('epics of sub-tasks, criteria and warnings are read', () => {
    const plan = check(
      [
        '{"id":"E","type":"epic","title":"E","blocked_by":[]}',
        '{"id":"F","type":"epic","title":"F"}',
        story('P', { epic_id: 'E', title: ' two\nlines ', acceptance_criteria: ['x', ' '] }),
        task('S', { story_id: 'P', epic_id: 'F' }),
        task('T', { epic_id: 'F' }),
        story('p'),
      ],
      [],
    );
    assert.deepEqual(
      plan.tasks.map(({ id, title, epicId, sequence }) => [id, title, epicId, sequence]),
      [
        ['P', 'two lines', 'E', 0],
        ['T', 'T', 'F', 0],
        ['p', 'p', null, 0],
        ['S', 'S', 'E', 1],
      ],
    );
    assert.equal(plan.tasks[0]?.description, 'Acceptance Criteria:\n- x');
    assert.deepEqual(
      plan.warnings.map(({ line, key }) => [line, key]),
      [
        [1, 'blocked_by'],
        [4, 'epic_id'],
        [6, 'id'],
      ],
    );
  });

  test('S20: little is read of a file that is not a plan', () => {
    const lines = Array.from({ length: 300_000 }, () => 'no record');
    assert.equal(parseImportLines(lines, emptyProject).problems.length, importProblemsMax + 1);
    assert.equal(parseBeads(lines, emptyProject).problems.length, importProblemsMax + 1);
  });

  test('S20: a line of brackets is refused before it is parsed', () => {
    const deep = `{"a":${'['.repeat(3_000_000)}${']'.repeat(3_000_000)}}`;
    const [problem] = parseImportLines([deep], emptyProject).problems;
    assert.match(problem?.message ?? '', /too many levels of brackets/);
    const wide = story('W', { description: '[1, {"a": 2}], '.repeat(10_000).slice(0, 60_000) });
    assert.deepEqual(parseImportLines([wide], emptyProject).problems, []);
  });

  test('the page about plan files has a valid example, and names every key', () => {
    const path = join(import.meta.dirname, '..', '..', '..', 'docs', 'plan-files.md');
    const page = readFileSync(path, 'utf8');
    const [, example = ''] = /```jsonl\n([^]*?)```/u.exec(page) ?? [];
    const plan = parseImport(example, emptyProject);
    assert.deepEqual([plan.problems, plan.warnings], [[], []]);
    assert.equal(plan.tasks.length, 3);
    for (const key of taskRuleKeys)
      if (key !== 'test_command') assert.ok(page.includes(`\`${key}\``), key);
  });

  test('twenty thousand records in one chain are imported', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) =>
      story(`T${index}`, index === 0 ? {} : { blocked_by: [`T${index - 1}`] }),
    );
    assert.equal(parseImportLines(lines, emptyProject).tasks.length, 20_000);
    lines[0] = story('T0', { blocked_by: ['T19999'] });
    const looped = parseImportLines(lines.slice(), emptyProject);
    assert.equal(looped.problems.length, 20_000);
  });
});
