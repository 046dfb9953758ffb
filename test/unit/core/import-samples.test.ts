import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { criticalPathLengths, executionOrder } from '../../../server/core/plan/graph.ts';
import { parseImport } from '../../../server/core/exchange/import-jsonl.ts';
import { compareForStart } from '../../doubles/start-order.ts';
import {
  emptyProject,
  type ExistingProject,
  type ImportPlan,
} from '../../../server/core/exchange/import-types.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/import/${name}.jsonl`, import.meta.url), 'utf8');
}

function projectOf(plan: ImportPlan): ExistingProject {
  return {
    tasks: new Map(plan.tasks.map((task) => [task.id, task])),
    epics: new Map(plan.epics.map((epic) => [epic.id, epic])),
  };
}

function countBy<T>(items: readonly T[], key: (item: T) => string | number): object {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

suite('import of the sample files', () => {
  test('small-epic: a diamond is imported', () => {
    const plan = parseImport(fixture('small-epic'), emptyProject);
    assert.deepEqual([plan.problems, plan.warnings], [[], []]);
    assert.deepEqual(
      plan.epics.map(({ id }) => id),
      ['CUR-EPIC'],
    );
    assert.equal(plan.tasks.length, 6);
    assert.ok(plan.tasks.every((task) => task.epicId === 'CUR-EPIC'));
    const blockers = plan.tasks.map((task) => `${task.id}: ${task.blockedBy.join(' ')}`);
    assert.deepEqual(blockers, [
      'CUR-1: ',
      'CUR-2: CUR-1',
      'CUR-3: CUR-1',
      'CUR-4: CUR-2 CUR-3',
      'CUR-5: CUR-4',
      'CUR-6: ',
    ]);
    assert.deepEqual(
      plan.tasks.map((task) => task.priority),
      [10, 7, 7, 5, 5, 2],
    );
    const chains = criticalPathLengths(plan.tasks);
    assert.equal(chains.get('CUR-1'), 4);
    const order = plan.tasks
      .map((task) => ({ ...task, chain: chains.get(task.id) ?? 0, createdAt: 0 }))
      .toSorted((a, b) => compareForStart({ ...a, position: a.line }, { ...b, position: b.line }));
    assert.deepEqual(
      order.map(({ id }) => id),
      ['CUR-1', 'CUR-2', 'CUR-3', 'CUR-4', 'CUR-5', 'CUR-6'],
    );
    const [, , third, , , sixth] = plan.tasks;
    const end =
      '\n\nAcceptance Criteria:\n- JPY prints without decimals\n- TND prints with three decimals';
    assert.ok(third?.description.endsWith(end));
    assert.deepEqual([sixth?.type, sixth?.testMode, sixth?.labels], ['docs', 'disabled', ['docs']]);
  });

  test('medium-project: everything that is allowed is imported', () => {
    const plan = parseImport(fixture('medium-project'), emptyProject);
    assert.deepEqual(plan.problems, []);
    assert.equal(plan.warnings.length, 1);
    const [warning] = plan.warnings;
    assert.deepEqual([warning?.line, warning?.id], [29, 'NL-205']);
    assert.match(warning?.message ?? '', /`lenient` is read as `strict`/);
    const stories = plan.tasks.filter((task) => task.parentId === null);
    const ids = new Map(plan.tasks.map((task) => [task.id, task]));
    const second = plan.tasks.filter(
      (task) => (ids.get(task.parentId ?? '')?.parentId ?? null) !== null,
    );
    assert.deepEqual(
      [plan.epics.length, plan.tasks.length, stories.length, second.length],
      [4, 40, 24, 2],
    );
    assert.deepEqual(
      countBy(plan.tasks, (task) => task.epicId ?? 'none'),
      { 'NL-E1': 10, 'NL-E2': 9, 'NL-E3': 15, 'NL-E4': 5, none: 1 },
    );
    assert.equal(plan.tasks.flatMap((task) => task.blockedBy).length, 26);
    const ready = stories.filter((task) => task.blockedBy.length === 0).map(({ id }) => id);
    assert.deepEqual(ready, ['NL-101', 'NL-201', 'NL-206', 'NL-302', 'NL-900']);
    assert.deepEqual(
      countBy(plan.tasks, (task) => task.priority),
      { 0: 1, 2: 7, 3: 1, 4: 1, 5: 16, 7: 8, 8: 1, 9: 1, 10: 4 },
    );
    const criteria = plan.tasks.filter((task) => task.acceptanceCriteria.length > 0);
    assert.equal(criteria.length, 13);
    assert.equal(criteria.flatMap((task) => task.acceptanceCriteria).length, 15);
    assert.equal(Math.max(...criticalPathLengths(plan.tasks).values()), 6);
    const orders: readonly [string, string][] = [
      ['NL-102', '1 2 3 4'],
      ['NL-203', '1 2 3'],
      ['NL-301', '1 2-1 2-2 2 3 4'],
      ['NL-304', '1 2 3'],
    ];
    for (const [parent, wanted] of orders) {
      const parts = wanted.split(' ').map((part) => `${parent}-${part}`);
      assert.deepEqual(executionOrder(parent, plan.tasks), [...parts, parent]);
    }
    const depths = depthsOf(plan);
    assert.deepEqual(
      countBy(stories, ({ id }) => depths.get(id) ?? 0),
      { 1: 5, 2: 6, 3: 5, 4: 4, 5: 3, 6: 1 },
    );
    assert.equal(ids.get('NL-303')?.gate, 'npm test -- --run "smtp client"');
    assert.equal(ids.get('NL-301')?.maxAttempts, 5);
    assert.equal(ids.get('NL-205')?.testMode, 'strict');
  });

  function depthsOf(plan: ImportPlan): ReadonlyMap<string, number> {
    const depths = new Map<string, number>();
    const tasks = new Map(plan.tasks.map((task) => [task.id, task]));
    const depthOf = (id: string): number => {
      const blockers = tasks.get(id)?.blockedBy ?? [];
      const depth = depths.get(id) ?? 1 + Math.max(0, ...blockers.map(depthOf));
      depths.set(id, depth);
      return depth;
    };
    for (const id of tasks.keys()) depthOf(id);
    return depths;
  }

  test('bad: each invalid line has one problem, in line order', () => {
    const plan = parseImport(fixture('bad'), emptyProject);
    const expected: readonly [number, string | null, string, RegExp][] = [
      [4, null, 'json', /line ends inside a string/],
      [5, null, 'object', /a list, not an object/],
      [6, 'BAD-06', 'type', /`type` is missing/],
      [7, 'BAD-07', 'type', /`milestone`; use epic, story or task/],
      [8, null, 'id', /`id` is missing/],
      [9, null, 'id', /a number; use a string/],
      [10, '../../outside', 'id-unsafe', /`\.\.\/\.\.\/outside`/],
      [11, '--force', 'id-unsafe', /`--force`/],
      [12, 'BAD-OK', 'id-twice', /line 3/],
      [13, 'BAD-13', 'title', /`title` is missing/],
      [14, 'BAD-14', 'title', /blank/],
      [15, 'BAD-15', 'title', /a number; use a string/],
      [16, 'BAD-16', 'text', /control character U\+0000 in `description`/],
      [17, 'BAD-17', 'priority', /`asap`.*critical, urgent, high, normal, medium, low/],
      [18, 'BAD-18', 'priority', /101; use 0 to 100/],
      [19, 'BAD-19', 'priority', /2\.5; use a whole number/],
      [20, 'BAD-20', 'priority', /-1; use 0 to 100/],
      [21, 'BAD-21', 'reference', /epic `BAD-NOWHERE`/],
      [22, 'BAD-22', 'reference', /story `BAD-NOWHERE`/],
      [23, 'BAD-23', 'reference-kind', /`BAD-EPIC`.* is an epic; name a story or task/],
      [24, 'BAD-24', 'reference', /`BAD-NOWHERE` of `blocked_by`/],
      [25, 'BAD-25', 'loop', /^BAD-25 → BAD-25$/],
      [26, 'BAD-26', 'loop', /^BAD-26 → BAD-27 → BAD-26$/],
      [27, 'BAD-27', 'loop', /^BAD-27 → BAD-26 → BAD-27$/],
      [29, 'BAD-29', 'loop', /^BAD-29 → BAD-OK → BAD-29$/],
      [31, 'BAD-31', 'depth', /third level below a task; two are allowed/],
      [32, 'BAD-32', 'field', /`acceptance_criteria` is a number/],
      [33, 'BAD-33', 'field', /`labels` is a string/],
      [34, 'BAD-34', 'field', /`estimated_hours` is negative/],
      [35, 'BAD-35', 'field', /`story_points` is a string/],
      [36, 'BAD-36', 'field', /`test_mode` is `sometimes`/],
      [37, 'BAD-37', 'field', /`test_scope` is `half`/],
      [38, 'BAD-38', 'field', /`blocked_by` is a string/],
      [39, 'BAD-39', 'field', /`max_attempts` is 0/],
      [40, 'BAD-40', 'reference-refused', /`BAD-17` was refused on line 17/],
    ];
    assert.deepEqual(
      plan.problems.map(({ line, id, kind }) => [line, id, kind]),
      expected.map(([line, id, kind]) => [line, id, kind]),
    );
    for (const [index, [, , , message]] of expected.entries()) {
      assert.match(plan.problems[index]?.message ?? '', message);
    }
    assert.deepEqual(
      plan.warnings.map(({ line, id, key }) => [line, id, key]),
      [[41, 'BAD-41', 'prioritty']],
    );
    assert.deepEqual(
      plan.tasks.map(({ id, parentId }) => [id, parentId]),
      [
        ['BAD-OK', null],
        ['BAD-41', null],
        ['BAD-SUB', 'BAD-OK'],
        ['BAD-SUBSUB', 'BAD-SUB'],
      ],
    );
    assert.equal(plan.epics.length, 1);
  });

  for (const name of ['small-epic', 'medium-project']) {
    test(`${name}: a second import changes nothing`, () => {
      const first = parseImport(fixture(name), emptyProject);
      for (const onDiffers of ['refuse', 'update', 'rename'] as const) {
        const second = parseImport(fixture(name), projectOf(first), { onDiffers });
        assert.deepEqual([second.problems, second.epics, second.tasks], [[], [], []]);
        assert.equal(second.unchanged.epics.length, first.epics.length);
        assert.equal(second.unchanged.tasks.length, first.tasks.length);
        assert.deepEqual(second.differs, []);
      }
    });
  }
});
