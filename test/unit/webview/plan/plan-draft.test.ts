// The lines that are added when a person has changed a plan.

import assert from 'node:assert/strict';
import { firstWords } from '../../../../webview/plan/plan-template.ts';
import { parseImport } from '../../../../server/core/exchange/import-jsonl.ts';
import { emptyProject } from '../../../../server/core/exchange/import-types.ts';
import {
  changeEpic,
  changeTask,
  choose,
  draftedEpics,
  freshDraft,
  planLines,
  possibleBlockers,
  readDraft,
} from '../../../../webview/plan/plan-draft.ts';
import { smallPlan, type PlanLine } from '../../../doubles/plans.ts';

const plan = smallPlan();
const linesOf = (text: string): readonly PlanLine[] => {
  assert.deepEqual(parseImport(text, emptyProject).problems, []);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PlanLine);
};
const lineOf = (text: string, id: string): PlanLine => {
  const line = linesOf(text).find((each) => each.id === id);
  assert.ok(line !== undefined, id);
  return line;
};

suite('a plan before it is added', () => {
  test('it is shown by epic, with tasks without an epic last', () => {
    assert.deepEqual(
      draftedEpics(plan, freshDraft).map(({ title, tasks }) => [title, tasks.map(({ id }) => id)]),
      [
        ['Short links', ['storage', 'redirect', 'expiry']],
        ['Help', ['page']],
        ['Without an epic', ['license']],
      ],
    );
  });

  test('it is added unchanged when nothing was edited', () => {
    const lines = linesOf(planLines(plan, freshDraft));
    assert.deepEqual(
      lines.map(({ id }) => id),
      ['epic-links', 'epic-help', 'storage', 'redirect', 'expiry', 'page', 'license'],
    );
    assert.deepEqual(lineOf(planLines(plan, freshDraft), 'page').blocked_by, [
      'storage',
      'redirect',
    ]);
  });

  test('the order is kept without omitted tasks and empty epics', () => {
    const text = planLines(plan, choose(freshDraft, ['redirect', 'page', 'license'], false));
    assert.deepEqual(
      linesOf(text).map(({ id }) => id),
      ['epic-links', 'storage', 'expiry'],
    );
    assert.deepEqual(lineOf(text, 'expiry').blocked_by, ['storage']);
    const again = choose(choose(freshDraft, ['page'], false), ['page'], true);
    assert.deepEqual(again, freshDraft);
  });

  test('edited texts and dependencies are used', () => {
    let draft = changeEpic(freshDraft, 'epic-help', 'Documents');
    draft = changeTask(draft, 'page', { title: 'Write the page', blockedBy: [] });
    draft = changeTask(draft, 'page', { description: '', criteria: ['It is read'] });
    const text = planLines(plan, draft);
    assert.equal(lineOf(text, 'epic-help').title, 'Documents');
    const { title, description, blocked_by, acceptance_criteria } = lineOf(text, 'page');
    assert.deepEqual(
      { title, description, blocked_by, acceptance_criteria },
      {
        title: 'Write the page',
        description: undefined,
        blocked_by: undefined,
        acceptance_criteria: ['It is read'],
      },
    );
  });

  test('no dependency that would close a loop is offered', () => {
    const tasks = draftedEpics(plan, freshDraft).flatMap((epic) => epic.tasks);
    const offered = (id: string): readonly string[] =>
      possibleBlockers(tasks, id).map((task) => task.id);
    assert.deepEqual(offered('storage'), ['license']);
    assert.deepEqual(offered('expiry'), ['storage', 'page', 'license']);
  });

  test('it is restored as stored, and invalid parts are left out', () => {
    const draft = changeTask(choose(freshDraft, ['page'], false), 'storage', { title: 'Store' });
    assert.deepEqual(readDraft(JSON.parse(JSON.stringify(draft))), draft);
    assert.deepEqual(readDraft({ out: [1], epics: { a: 2 }, tasks: { b: { title: 3 } } }), {
      out: [],
      epics: {},
      tasks: { b: {} },
    });
    assert.deepEqual(readDraft(null), freshDraft);
  });
});

suite('texts of a plan', () => {
  const rows: readonly (readonly [string, string])[] = [
    [
      'Change `cart.ts` so that a **total** is right.\n\n| a | b |',
      'Change cart.ts so that a total is right.',
    ],
    ['\n## Read _this_ first\nthen', 'Read this first'],
    ['- [the notes](https://example.com/a_b) and snake_case *now*', 'the notes and snake_case now'],
    ['', ''],
    ['---\n\n2 * 3 = 6', '2 * 3 = 6'],
  ];
  for (const [text, words] of rows) {
    test(`they are summarized in a line: ${JSON.stringify(text)}`, () => {
      assert.equal(firstWords(text), words);
    });
  }
});
