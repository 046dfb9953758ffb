import assert from 'node:assert/strict';
import {
  levelBranch,
  type LineStep,
  planLevels,
  type PushedLevel,
  type StackPlan,
  stepRuns,
} from '../../../../server/core/forge/stack.ts';

function step(sha: string, task: string | null, parent = `before-${sha}`): LineStep {
  return { sha, parent, task, subject: `drover: ${sha}`, trailers: [] };
}

function pushed(position: number, more: Partial<PushedLevel> = {}): PushedLevel {
  const branch = `drover/E1-${position}`;
  const own = { tasks: [`t${position}`], commits: [`c${position}`], state: 'open' } as const;
  return { position, branch, base: 'main', head: 'h', testedBase: 'b', ...own, ...more };
}

function levelsOf(more: Partial<StackPlan>): readonly string[] {
  const plan: StackPlan = {
    epicId: 'E1',
    steps: [step('c1', 't1'), step('c2', 't2'), step('c3', 't3')],
    levels: [],
    titles: new Map([['t1', 'Store shoes']]),
    fixes: new Map(),
    onTop: new Set(),
    joined: new Set(),
    nextPosition: 1,
    ...more,
  };
  return planLevels(plan).map(
    ({ position, steps, tasks }) =>
      `${position}: ${steps.map(({ sha }) => sha).join(' ')} (${tasks.join(' ')})`,
  );
}

suite('the levels of a stack', () => {
  test('are one for each landed task, in the order of the line', () => {
    assert.deepEqual(levelsOf({}), ['1: c1 (t1)', '2: c2 (t2)', '3: c3 (t3)']);
  });

  test('have the changes of people with the next task, and the last ones with the last', () => {
    const steps = [step('p1', null), step('c1', 't1'), step('c2', 't2'), step('p2', null)];
    assert.deepEqual(levelsOf({ steps }), ['1: p1 c1 (t1)', '2: c2 p2 (t2)']);
  });

  test('join a task that does not work alone with the next one', () => {
    assert.deepEqual(levelsOf({ joined: new Set(['c1']) }), ['1: c1 c2 (t1 t2)', '2: c3 (t3)']);
  });

  test('keep what was pushed, without what was merged; what was closed is sent again', () => {
    const levels = [pushed(1, { state: 'merged' }), pushed(2), pushed(3, { state: 'closed' })];
    assert.deepEqual(levelsOf({ levels, nextPosition: 4 }), ['2: c2 (t2)', '4: c3 (t3)']);
  });

  test('get a fix where it belongs, on top if it does not work there, or is too late', () => {
    const steps = [step('c1', 't1'), step('c2', 't2'), step('f', 'fix')];
    const levels = [pushed(1), pushed(2)];
    const fixes = new Map([['fix', 'drover/E1-1']]);
    const given = { steps, levels, fixes, nextPosition: 3 };
    assert.deepEqual(levelsOf(given), ['1: c1 f (t1 fix)', '2: c2 (t2)']);
    const alone = ['1: c1 (t1)', '2: c2 (t2)', '3: f (fix)'];
    assert.deepEqual(levelsOf({ ...given, onTop: new Set(['f']) }), alone);
    const late = [pushed(1, { state: 'merged' }), pushed(2)];
    assert.deepEqual(levelsOf({ ...given, levels: late }), ['2: c2 (t2)', '3: f (fix)']);
  });

  test('have branches that git takes beside that of the epic', () => {
    assert.equal(
      levelBranch('E1', 2, 'Store: "shoes" & ééé hats!'),
      'drover/E1-2-store-shoes-hats',
    );
    assert.equal(levelBranch('E1', 2, '鞋'), 'drover/E1-2');
    assert.equal(levelBranch('E1', 1, `${'a'.repeat(39)} b`), `drover/E1-1-${'a'.repeat(39)}`);
  });

  test('take commits that follow each other as one change', () => {
    const runs = stepRuns([step('a', null), step('b', 't', 'a'), step('d', 'f', 'c')]);
    assert.deepEqual(
      runs.map((run) => run.map(({ sha }) => sha)),
      [['a', 'b'], ['d']],
    );
  });
});
