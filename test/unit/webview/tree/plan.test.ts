// The effects of drags and keys on a plan, and their undo, on a board whose backend is a list.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { StatusSnapshot, TaskView } from '../../../../server/protocol/views.ts';
import { decideDrop, moveByOne, dropZone } from '../../../../webview/tree/drops.ts';
import {
  dropEdit,
  dropQuestion,
  duplicateEdit,
  EditHistory,
  keptDependents,
  removeEdit,
  unblockEdit,
  type Edit,
} from '../../../../webview/shared/plan/edits.ts';
import { hoverText } from '../../../../webview/tree/hover-text.ts';
import { blockOn, moveTo, type Drop } from '../../../../webview/shared/plan/places.ts';
import { buildRows, emptyLook, rowTitle, type Row } from '../../../../webview/tree/rows.ts';
import type { Host } from '../../../../webview/shared/host.ts';
import { epicView, snapshotOf, taskView } from '../../../doubles/views.ts';

/**
 * `a b | c`: the tasks a and b in the first epic, c in the second; `x>y`: x waits for y; `p/q`: q
 * is a sub-task of p.
 */
function boardOf(plan: Readonly<Record<string, string>>): StatusSnapshot {
  const tasks: TaskView[] = [];
  for (const [epic, words] of Object.entries(plan)) {
    for (const word of words.split(' ').filter((one) => one !== '')) {
      const [path = '', blocker] = word.split('>');
      const [first = '', second] = path.split('/');
      tasks.push(
        taskView({
          id: second ?? first,
          title: second ?? first,
          parent_id: second === undefined ? null : first,
          epic_id: epic === '-' ? null : epic,
          blocked_by: blocker === undefined ? [] : [blocker],
          position: tasks.length,
        }),
      );
    }
  }
  const epics = Object.keys(plan).filter((id) => id !== '-');
  return { ...snapshotOf(tasks), epics: epics.map((id) => epicView({ id, title: id }, tasks)) };
}

/**
 * Siblings in their order: those of each epic, and the sub-tasks of each task under the task's
 * name.
 */
function shape(board: StatusSnapshot): Readonly<Record<string, string>> {
  const lists: Record<string, string[]> = Object.fromEntries(
    [...board.epics.map((epic) => epic.id), '-'].map((id) => [id, []]),
  );
  for (const task of board.tasks.toSorted((a, b) => a.position - b.position)) {
    const list = task.parent_id ?? task.epic_id ?? '-';
    (lists[list] ??= []).push([task.id, ...task.blocked_by].join('>'));
  }
  return Object.fromEntries(Object.entries(lists).map(([id, list]) => [id, list.join(' ')]));
}

/** A backend that keeps the plan in a list and carries out the requests. */
class ListBackend {
  board: StatusSnapshot;
  constructor(board: StatusSnapshot) {
    this.board = board;
  }

  get host(): Host {
    return {
      backend: async (name: string, params: unknown) => this.#answer(name, params),
    } as unknown as Host;
  }

  #answer(name: string, params: unknown): unknown {
    const request = params as {
      ids?: string[];
      id?: string;
      epic?: string | null;
      parent?: string | null;
      before?: string | null;
      add_blockers?: string[];
      remove_blockers?: string[];
    };
    const tasks = [...this.board.tasks];
    if (name === 'task.edit') {
      const next = tasks.map((task) =>
        task.id === request.id
          ? {
              ...task,
              blocked_by: [...task.blocked_by, ...(request.add_blockers ?? [])].filter(
                (id) => !(request.remove_blockers ?? []).includes(id),
              ),
            }
          : task,
      );
      this.board = { ...this.board, tasks: next };
      return {};
    }
    const ids = request.ids ?? [];
    const moved = ids.map((id) => {
      const task = tasks.find((one) => one.id === id) as TaskView;
      return { ...task, epic_id: request.epic ?? null, parent_id: request.parent ?? null };
    });
    const rest = tasks.filter((task) => !ids.includes(task.id));
    const at = rest.findIndex((task) => task.id === request.before);
    rest.splice(at < 0 ? rest.length : at, 0, ...moved);
    this.board = { ...this.board, tasks: rest.map((task, position) => ({ ...task, position })) };
    return [];
  }
}

async function applied(board: StatusSnapshot, drop: Drop | null): Promise<StatusSnapshot> {
  const backend = new ListBackend(board);
  const edit = drop === null ? null : dropEdit(board, drop);
  if (edit !== null) await edit.run(backend.host);
  return backend.board;
}

function rowNamed(board: StatusSnapshot, name: string): Row {
  const row = buildRows(board, { ...emptyLook, showLoose: true }).find((one) => {
    if (one.kind === 'task') return one.task.id === name;
    if (one.kind === 'epic') return one.epic.id === name;
    return one.kind === 'loose' && name === '-';
  });
  assert.ok(row !== undefined, name);
  return row;
}

suite('tree: plan', () => {
  const plan = { one: 'a b c', two: 'd e', '-': 'f' };
  const drags: readonly [string[], string, number, Readonly<Record<string, string>>][] = [
    [['f'], 'two', 0.5, { one: 'a b c', two: 'd e f', '-': '' }],
    [['a', 'f'], 'two', 0.5, { one: 'b c', two: 'd e a f', '-': '' }],
    [['a'], '-', 0.5, { one: 'b c', two: 'd e', '-': 'f a' }],
    [['c'], 'a', 0.1, { one: 'c a b', two: 'd e', '-': 'f' }],
    [['a'], 'c', 0.9, { one: 'b c a', two: 'd e', '-': 'f' }],
    [['a', 'b'], 'b', 0.9, { one: 'a b c', two: 'd e', '-': 'f' }],
    [['f'], 'd', 0.9, { one: 'a b c', two: 'd f e', '-': '' }],
  ];
  for (const [ids, onto, part, expected] of drags) {
    test(`drags ${ids.join(', ')} onto ${onto} at ${part}`, async () => {
      const board = boardOf(plan);
      const drop = decideDrop(board, ids, { row: rowNamed(board, onto), part, isLink: false });
      assert.deepEqual(shape(await applied(board, drop)), expected);
    });
  }

  test('a drop with the key held makes tasks wait, and a loop is named', () => {
    const board = boardOf({ one: 'a b>a c>b' });
    const row = rowNamed(board, 'c');
    const hover = { row, part: 0.1, isLink: true };
    assert.equal(dropZone(hover), 'into');
    assert.deepEqual(decideDrop(board, ['a'], hover), {
      kind: 'refused',
      words: 'They would wait for each other: a → c → b → a',
    });
    assert.equal(blockOn(board, ['c'], 'a').kind, 'block');
    assert.equal(blockOn(board, ['b'], 'a').kind, 'refused');
    assert.equal(blockOn(board, ['b'], 'b').kind, 'refused');
  });

  test('a task cannot become its own descendant', () => {
    const board = boardOf({ one: 'a a/b b/c' });
    const to = { epic: 'one', parent: 'c', before: null };
    assert.equal(moveTo(board, ['a'], to).kind, 'refused');
    assert.equal(moveTo(board, ['epic'], to).kind, 'refused');
  });

  const steps: readonly [string[], -1 | 1, string | null][] = [
    [['b'], -1, 'b a c d'],
    [['b'], 1, 'a c b d'],
    [['a'], -1, null],
    [['d'], 1, null],
    [['b', 'c'], 1, 'a d b c'],
    [['b', 'd'], -1, 'b d a c'],
  ];
  for (const [ids, step, expected] of steps) {
    test(`moves ${ids.join(', ')} by ${step}`, async () => {
      const board = boardOf({ one: 'a b c d' });
      const drop = moveByOne(board, ids, step);
      if (expected === null) assert.equal(drop, null);
      else assert.equal(shape(await applied(board, drop))['one'], expected);
    });
  }

  test('whatever is dragged wherever, undo reverts all of it and redo repeats it', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const targets = [...names, 'one', 'two', '-'];
    const drag = fc.record({
      ids: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
      onto: fc.constantFrom(...targets),
      part: fc.constantFrom(0.1, 0.9),
      isLink: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(drag, { minLength: 1, maxLength: 8 }), async (all) => {
        const backend = new ListBackend(boardOf({ one: 'a b>a c', two: 'd d/e f', '-': 'g' }));
        const before = shape(backend.board);
        const history = new EditHistory();
        let done = 0;
        for (const { ids, onto, part, isLink } of all) {
          const row = rowNamed(backend.board, onto);
          const drop = decideDrop(backend.board, ids, { row, part, isLink });
          const edit = drop === null ? null : dropEdit(backend.board, drop);
          if (edit === null) continue;
          await history.run(backend.host, edit);
          done += 1;
        }
        const after = shape(backend.board);
        for (let count = 0; count < done; count += 1) await history.undo(backend.host);
        assert.deepEqual(shape(backend.board), before);
        for (let count = 0; count < done; count += 1) await history.redo(backend.host);
        assert.deepEqual(shape(backend.board), after);
        assert.equal(await history.redo(backend.host), null);
      }),
    );
  });

  test('undoing an edit while it is being sent undoes that edit, and not the previous one', async () => {
    const history = new EditHistory();
    const host = {} as Host;
    const asked: string[] = [];
    const answer = Promise.withResolvers<void>();
    const edit = (words: string, end: Promise<void>): Edit => ({
      words,
      run: () => (asked.push(words), end),
      undo: async () => void asked.push(`not ${words}`),
    });
    await history.run(host, edit('one', Promise.resolve()));
    const running = history.run(host, edit('two', answer.promise));
    const undoing = history.undo(host);
    answer.resolve();
    await running;
    assert.equal((await undoing)?.words, 'two');
    assert.deepEqual(asked, ['one', 'two', 'not two']);
  });

  test('a refused edit is reported to its caller, and delays nothing', async () => {
    const history = new EditHistory();
    const host = {} as Host;
    const refused: Edit = {
      words: 'no',
      run: () => Promise.reject(new Error('refused')),
      undo: () => assert.fail('it was never done'),
    };
    await assert.rejects(history.run(host, refused), /refused/);
    assert.equal(await history.undo(host), null);
  });
});

suite('tree: dependencies, copies and archived epics', () => {
  const board = boardOf({ one: 'a b>a c>a', two: 'd' });

  test('a dependency is removed from the tasks that have it, and undo restores it', async () => {
    const backend = new ListBackend(board);
    const edit = unblockEdit(board, ['b', 'd'], 'a');
    assert.equal(edit?.words, 'b no longer waits for a');
    await edit?.run(backend.host);
    assert.equal(shape(backend.board)['one'], 'a b c>a');
    await edit?.undo(backend.host);
    assert.deepEqual(shape(backend.board), shape(board));
    assert.equal(unblockEdit(board, ['a'], 'd'), null, 'there is nothing to take out');
  });

  test('tasks that others wait for are removed with those dependencies, which undo restores', async () => {
    const board = boardOf({ one: 'a b c d e>b f>b' });
    assert.equal(dropQuestion(keptDependents(board, ['a', 'c'])), null);
    assert.equal(dropQuestion(keptDependents(board, ['b', 'e', 'f'])), null, 'all of them go');
    const ids = ['a', 'b', 'c', 'd', 'e'];
    assert.deepEqual(dropQuestion(keptDependents(board, ids)), {
      text: '“f” waits for “b”.',
      button: 'Remove and Drop 1 Dependency',
    });
    assert.equal(
      dropQuestion(keptDependents(board, ['b']))?.button,
      'Remove and Drop 2 Dependencies',
    );
    const calls: unknown[] = [];
    let isRefused = false;
    const host = {
      backend: async (name: string, params: object) => {
        calls.push([name, ...Object.values(params).flat()]);
        if (name === 'task.remove' && isRefused) throw new Error('d has a history.');
        return { removed: ids };
      },
    } as unknown as Host;
    const edit = removeEdit(board, ids);
    await edit.run(host);
    await edit.undo(host);
    assert.deepEqual(calls.splice(0), [
      ['task.edit', 'f', 'b'],
      ['task.remove', ...ids],
      ['plan.restore', ...ids],
      ['task.edit', 'f', 'b'],
    ]);
    isRefused = true;
    await assert.rejects(edit.run(host), /d has a history/);
    assert.deepEqual(calls, [
      ['task.edit', 'f', 'b'],
      ['task.remove', ...ids],
      ['task.edit', 'f', 'b'],
    ]);
  });

  test('a task that has started cannot be removed, so no question is asked', () => {
    const board = boardOf({ one: 'a b>a' });
    const begun = board.tasks.map((task) =>
      task.id === 'a' ? { ...task, status: 'completed' as const } : task,
    );
    assert.deepEqual(keptDependents({ ...board, tasks: begun }, ['a']), []);
  });

  test('a sub-task of a removed task counts as removed', () => {
    const board = boardOf({ one: 'p p/q r>q' });
    assert.equal(dropQuestion(keptDependents(board, ['p']))?.text, '“r” waits for “q”.');
  });

  test('a copy has the texts of its task, but none of its results', async () => {
    const told: (readonly [string, unknown])[] = [];
    const host = {
      backend: async (name: string, params: unknown) => {
        told.push([name, params]);
        return { id: 'copy' };
      },
    } as unknown as Host;
    const [first] = boardOf({ one: 'a b>a' }).tasks;
    const task = { ...(first as TaskView), status: 'failed' as const, labels: ['ui'], attempts: 2 };
    const chosen: string[] = [];
    const edit = duplicateEdit({ ...board, tasks: [task] }, ['a'], (id) => chosen.push(id));
    await edit?.run(host);
    await edit?.undo(host);
    const [added, removed] = told;
    const params = added?.[1] as Readonly<Record<string, unknown>>;
    assert.equal(params['title'], 'a (copy)');
    assert.deepEqual([params['epic'], params['labels']], ['one', ['ui']]);
    assert.ok(!('status' in params) && !('attempts' in params));
    assert.deepEqual(removed, ['task.remove', { ids: ['copy'] }]);
    assert.deepEqual(chosen, ['copy']);
  });

  test('an archived epic is hidden, and found by its filter and by a search', () => {
    const epics = board.epics.map((epic) => {
      return epic.id === 'one' ? { ...epic, status: 'closed' as const } : epic;
    });
    const titles = (look: Partial<typeof emptyLook>): readonly string[] =>
      buildRows({ ...board, epics }, { ...emptyLook, ...look }).map(rowTitle);
    assert.deepEqual(titles({}), ['two', 'd']);
    assert.deepEqual(titles({ archived: true }), ['one', 'a', 'b', 'c']);
    assert.deepEqual(titles({ text: 'b' }), ['one', 'b']);
  });

  test("the hover shows the whole title, a task's blockers by title, and its failure", () => {
    const tasks = board.tasks.map((task) =>
      task.id === 'b' ? { ...task, waits_for: ['a'], last_error: 'the gate is red' } : task,
    );
    const rows = buildRows({ ...board, tasks }, emptyLook);
    const row = rows.find((each) => rowTitle(each) === 'b') as Row;
    const text = hoverText(row, { ...board, tasks });
    assert.match(text, /^b\n/);
    assert.match(text, /Waits for: a\n/);
    assert.match(text, /the gate is red$/);
  });
});
