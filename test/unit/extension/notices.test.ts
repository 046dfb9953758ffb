// Notifications for a person: only about items that wait for the person, each once, and several as
// one.

import assert from 'node:assert/strict';
import { costLines } from '../../../extension/notices/cost-lines.ts';
import {
  isStillOpen,
  NoticeMemory,
  openNotices,
  toShow,
} from '../../../extension/notices/notices.ts';
import { plainText } from '../../../extension/notices/plain-text.ts';
import {
  addUp,
  reattachedText,
  statusBarHover,
  statusBarText,
  summarise,
} from '../../../extension/notices/summary.ts';
import type { QuestionView, StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { inboxItems } from '../../../webview/inbox/inbox-items.ts';
import { epicView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

function question(id: string, task: string, choices: readonly string[]): QuestionView {
  return {
    id,
    task_id: task,
    attempt: 1,
    request_id: id,
    kind: 'permission',
    text: 'May I run npm test?',
    choices,
    state: 'open',
    answer: null,
    asked_at: 1,
  };
}

const calm = [
  taskView({ id: 'a', status: 'in_progress' }),
  taskView({ id: 'b', status: 'ready' }),
  taskView({ id: 'c', status: 'completed' }),
];

suite('extension notices', () => {
  test('events that continue by themselves are not reported', () => {
    assert.deepEqual(openNotices(snapshotOf(calm)), []);
  });

  test('approved work that is about to land is not waiting for a person', () => {
    const approved = taskView({ id: 'a', status: 'needs_review', phase: 'land' });
    assert.deepEqual(openNotices(snapshotOf([approved])), []);
  });

  const cases: readonly (readonly [Partial<TaskView>, string, readonly string[]])[] = [
    [{ status: 'needs_review' }, 'Title of t waits for your review.', ['Review', 'Show']],
    [
      { status: 'conflict', conflict_files: ['a', 'b'] },
      'Title of t conflicts with landed work (2 files).',
      ['Merge in Editor', 'Show'],
    ],
    [
      { status: 'failed', last_error: 'The setup command ended with 1.' },
      'Title of t failed. The setup command ended with 1.',
      ['Show', 'Retry'],
    ],
  ];
  for (const [task, text, buttons] of cases) {
    test(`${task.status} is reported`, () => {
      const [notice] = openNotices(snapshotOf([taskView({ id: 't', ...task })]));
      assert.equal(notice?.text, text);
      assert.deepEqual(
        notice?.buttons.map(({ title }) => title),
        buttons,
      );
    });
  }

  test('an epic that waits for a review and an epic that cannot land are reported', () => {
    const epic = epicView({ id: 'e', landing_state: 'needs_review' });
    const [review] = openNotices(snapshotOf(calm, { epics: [epic] }));
    assert.equal(review?.text, 'The epic Title of e is done and waits for your review.');
    assert.deepEqual(review?.buttons[0]?.action, { kind: 'review', id: 'e' });
    const red = epicView({ id: 'e', landing_state: 'gate_failed', landing_note: 'It is red.' });
    const [refused] = openNotices(snapshotOf(calm, { epics: [red] }));
    assert.equal(refused?.text, 'The epic Title of e cannot land. It is red.');
    assert.equal(refused?.isBlocking, true);
  });

  test('a single file is counted in the singular', () => {
    const task = taskView({ id: 't', status: 'conflict', conflict_files: ['a'] });
    assert.match(openNotices(snapshotOf([task]))[0]?.text ?? '', /\(1 file\)/u);
  });

  test('a question with few answers offers them', () => {
    const few = snapshotOf(calm, { questions: [question('q', 'a', ['Allow', 'Deny'])] });
    const many = snapshotOf(calm, { questions: [question('q', 'a', ['1', '2', '3'])] });
    const titles = (board: typeof few): readonly string[] =>
      openNotices(board).flatMap(({ buttons }) => buttons.map(({ title }) => title));
    assert.deepEqual(titles(few), ['Allow', 'Deny', 'Open Inbox']);
    assert.deepEqual(titles(many), ['Open Inbox']);
  });

  test('a notice appears once, and not for items from before the window opened', () => {
    const memory = new NoticeMemory();
    const review = snapshotOf([taskView({ id: 'a', status: 'needs_review' })]);
    const both = snapshotOf([
      taskView({ id: 'a', status: 'needs_review' }),
      taskView({ id: 'b', status: 'failed' }),
    ]);
    assert.equal(memory.fresh(review).length, 0);
    assert.deepEqual(
      memory.fresh(both).map(({ key }) => key),
      ['failed b 0 '],
    );
    assert.equal(memory.fresh(both).length, 0);
    assert.equal(memory.fresh(snapshotOf(calm)).length, 0);
    assert.equal(memory.fresh(both).length, 2);
  });

  test('notices know when their subject was resolved elsewhere', () => {
    const asks = snapshotOf(calm, { questions: [question('q', 'a', ['Yes'])] });
    const [notice] = openNotices(asks);
    assert.ok(notice !== undefined);
    assert.equal(isStillOpen(notice, asks), true);
    assert.equal(isStillOpen(notice, snapshotOf(calm)), false);
  });

  test('many notices become one, and notices follow the setting', () => {
    const tasks = ['a', 'b', 'c'].map((id) => taskView({ id, status: 'failed' }));
    const failed = openNotices(snapshotOf(tasks));
    const review = openNotices(snapshotOf([taskView({ id: 'r', status: 'needs_review' })]));
    assert.deepEqual(
      toShow(failed, 'all').map(({ text }) => text),
      ['3 things wait for you.'],
    );
    assert.equal(toShow(review, 'all').length, 1);
    assert.equal(toShow(review, 'blocking').length, 0);
    assert.equal(toShow(failed, 'none').length, 0);
  });
});

suite('extension summary', () => {
  test('it counts agents, tasks that wait for their turn, and items that wait for a person', () => {
    const tasks = [
      taskView({ id: 'a', status: 'in_progress' }),
      taskView({ id: 'b', status: 'waiting' }),
      taskView({ id: 'c', status: 'conflict' }),
      taskView({ id: 'd', status: 'ready' }),
    ];
    const board = snapshotOf(tasks, { questions: [question('q', 'a', [])] });
    assert.deepEqual(summarise(board), { running: 1, waiting: 1, needYou: 2 });
  });

  test('it counts a task that asks once, and adds up repositories', () => {
    const board = snapshotOf([taskView({ id: 'a', status: 'needs_review' })], {
      questions: [question('q', 'a', [])],
    });
    const one = summarise(board);
    assert.equal(one.needYou, 1);
    assert.equal(addUp([one, one]).needYou, 2);
  });

  test("it counts the inbox's items, including epics and externally blocked tasks", () => {
    const board = snapshotOf(
      [taskView({ id: 'a', status: 'blocked', blocked_reason: 'the key' })],
      {
        epics: [epicView({ id: 'e', landing_state: 'needs_review' })],
        target: { branch: 'main', sha: null, pending: 2 },
      },
    );
    assert.equal(summarise(board).needYou, inboxItems(board).length);
    assert.equal(summarise(board).needYou, 3);
  });

  test('it counts only tasks of the active run as waiting', () => {
    const tasks = [
      taskView({ id: 'a', epic_id: 'one' }),
      taskView({ id: 'b', epic_id: 'one', status: 'blocked' }),
      taskView({ id: 'c', epic_id: 'two' }),
    ];
    const epics = [epicView({ id: 'one' }, tasks), epicView({ id: 'two' }, tasks)];
    const board = snapshotOf(tasks, { epics });
    assert.equal(summarise({ ...board, run: runView({ epic_id: 'one' }) }).waiting, 2);
    assert.equal(summarise({ ...board, run: runView({ epic_id: null }) }).waiting, 3);
  });

  test('it is formatted as text', () => {
    const summary = { running: 3, waiting: 2, needYou: 1 };
    assert.equal(statusBarText(summary), '$(sync~spin) 3  $(clock) 2  $(bell-dot) 1');
    assert.equal(statusBarHover(summary), 'Drover: 3 agents running, 2 queued, 1 waiting for you');
    assert.equal(statusBarHover(summary, ['Today: $1.00']).split('\n')[1], 'Today: $1.00');
    assert.equal(reattachedText(summary), 'Reattached: 3 agents running, 1 waits for you');
    assert.equal(
      reattachedText({ running: 1, waiting: 0, needYou: 0 }),
      'Reattached: 1 agent running',
    );
    assert.equal(reattachedText({ running: 0, waiting: 4, needYou: 0 }), null);
  });
});

suite("costs in the status bar's hover", () => {
  const tasks = [
    taskView({ id: 'a', epic_id: 'one', cost: 0.4 }),
    taskView({ id: 'b', epic_id: 'one', cost: 0.2 }),
    taskView({ id: 'c', epic_id: 'two', cost: 0 }),
    taskView({ id: 'd', cost: 3 }),
  ];
  const epics = [epicView({ id: 'one', title: 'Checkout' }), epicView({ id: 'two' })];
  const limits = (values: Readonly<Record<string, number>>): StatusSnapshot['config'] =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, { value, source: 'project' } as const]),
    );

  test('today and each epic are shown, with the rest of a budget', () => {
    const board = snapshotOf(tasks, { epics });
    assert.deepEqual(costLines(board, 1.2), ['Today: $1.20', 'Checkout: $0.60']);
    const config = limits({ 'budget.day_usd': 5, 'budget.epic_usd': 0.5 });
    assert.deepEqual(costLines({ ...board, config }, 1.2), [
      'Today: $1.20 of $5.00, $3.80 left',
      'Checkout: $0.60 of $0.50, $0.00 left',
    ]);
    assert.deepEqual(costLines(board, null), ['Checkout: $0.60']);
  });

  test('a landed epic is not shown', () => {
    const landed = epicView({ id: 'one', title: 'Checkout', landing_state: 'landed' });
    assert.deepEqual(costLines(snapshotOf(tasks, { epics: [landed] }), 0), ['Today: $0.00']);
  });
});

suite('extension plain text', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['links', '[click](command:rm)', '[click] (command:rm)'],
    ['icons', 'a $(trash) b', 'a $ (trash) b'],
    ['control characters', 'a\u001b[31mred\u0007\nb', 'a [31mred b'],
    ['a change of direction', 'x\u202egnp.exe', 'x gnp.exe'],
    ['what cannot be seen', 'a\u200bb\u2066c', 'a b c'],
  ];
  for (const [name, given, wanted] of cases) {
    test(`${name} is removed`, () => {
      assert.equal(plainText(given), wanted);
    });
  }

  test('it never exceeds its limit', () => {
    assert.equal(plainText('x'.repeat(1_000_000), 10), 'xxxxxxxxx…');
    assert.equal(plainText('😀'.repeat(20), 3), '😀😀…');
  });
});
