// A plan before it is added to the board.

import assert from 'node:assert/strict';
import { chosenLines, planRows } from '../../../extension/plan/plan-choice.ts';
import { parseImport } from '../../../server/core/exchange/import-jsonl.ts';
import type { SpecPlanView } from '../../../server/protocol/spec-plan.ts';
import { emptyProject } from '../../../server/core/exchange/import-types.ts';

const task = (
  id: string,
  blockedBy: readonly string[] = [],
  epic: string | null = 'epic-links',
): SpecPlanView['tasks'][number] => ({
  id,
  epic_id: epic,
  title: `Build ${id}`,
  description: `About ${id}.`,
  type: 'feature',
  priority: 'normal',
  blocked_by: blockedBy,
  acceptance_criteria: ['tested'],
});

const tasks = [task('a'), task('b', ['a']), task('c', ['b']), task('d', [], 'epic-other')];
const epics = [
  { id: 'epic-links', title: 'Links', description: '' },
  { id: 'epic-other', title: 'Other', description: '' },
];
const records: readonly object[] = [
  ...epics.map(({ id, title }) => ({ id, type: 'epic', title })),
  ...tasks.map(({ id, epic_id, title, blocked_by }) => {
    return { id, type: 'story', epic_id, title, blocked_by };
  }),
];
const plan = {
  epics,
  tasks,
  jsonl: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
};

const idsIn = (jsonl: string): readonly string[] =>
  jsonl
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);

suite('choice of a plan', () => {
  test('is shown by epic, with what each task waits for', () => {
    const rows = planRows(plan);
    assert.deepEqual(
      rows.map(({ id, label, description }) => [id, label, description]),
      [
        [null, 'Links', ''],
        ['a', 'Build a', 'can start at once'],
        ['b', 'Build b', 'after Build a'],
        ['c', 'Build c', 'after Build b'],
        [null, 'Other', ''],
        ['d', 'Build d', 'can start at once'],
      ],
    );
    assert.equal(rows[1]?.detail, '1 criterion · About a.');
  });

  test('all of it is the plan as it was', () => {
    const lines = chosenLines(plan, new Set(['a', 'b', 'c', 'd']));
    assert.deepEqual(parseImport(lines, emptyProject).problems, []);
    assert.deepEqual(idsIn(lines), ['epic-links', 'epic-other', 'a', 'b', 'c', 'd']);
  });

  test('a part keeps the order through what is left out, and no empty epic', () => {
    const lines = chosenLines(plan, new Set(['a', 'c']));
    assert.deepEqual(idsIn(lines), ['epic-links', 'a', 'c']);
    assert.deepEqual(parseImport(lines, emptyProject).problems, []);
    assert.match(lines, /"id":"c".*"blocked_by":\["a"\]/);
  });

  test('changed titles are taken over, also where others wait for them', () => {
    const titles = new Map([['a', 'Build the store']]);
    assert.match(chosenLines(plan, new Set(['a']), titles), /"title":"Build the store"/);
    assert.equal(planRows(plan, titles)[2]?.description, 'after Build the store');
  });
});
