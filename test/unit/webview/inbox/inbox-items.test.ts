// Items that wait for a person. A plan is one of them, and is approved by the number of the version
// that was read.

import assert from 'node:assert/strict';
import {
  actionTitle,
  runItemAction,
  mayBeBlank,
  wordsAsked,
} from '../../../../webview/inbox/item-actions.ts';
import { inboxItems } from '../../../../webview/inbox/inbox-items.ts';
import type { Host } from '../../../../webview/shared/host.ts';
import { statusLook } from '../../../../webview/shared/status-words.ts';
import { epicView, questionView, redBase, snapshotOf, taskView } from '../../../doubles/views.ts';

suite('inbox items', () => {
  const proposal = {
    number: 3,
    attempt: 3,
    state: 'proposed',
    text: '# Plan',
    comment: null,
    created_at: 1,
  } as const;
  const waits = taskView({
    id: 'a',
    title: 'A',
    status: 'needs_review',
    review_kind: 'plan',
    proposal,
  });

  test('a plan is shown with its text, to approve or to send back', async () => {
    const [item, ...more] = inboxItems(snapshotOf([waits]));
    assert.ok(item !== undefined && more.length === 0);
    assert.deepEqual([item.kind, item.text, item.seen], ['plan', '# Plan', 'plan-3']);
    assert.deepEqual(item.actions.map(actionTitle), ['Approve', 'Send Back…', 'Open']);
    const asked: unknown[] = [];
    const host = {
      backend: async (name: string, params: unknown) => void asked.push([name, params]),
      action: async (name: string, params: unknown) => void asked.push([name, params]),
    } as unknown as Host;
    for (const action of item.actions.slice(0, 2)) await runItemAction(host, item, action, 'words');
    assert.deepEqual(asked, [
      ['approve', { id: 'a', seen: 'plan-3' }],
      ['sendBack', { id: 'a', text: 'words' }],
    ]);
  });

  test('an epic that only a run lands has one button for that', async () => {
    const done = taskView({ id: 'a', epic_id: 'e', status: 'completed' });
    const epics = [epicView({ id: 'e', title: 'Accounts', progress: 99 }, [done])];
    const [item, ...more] = inboxItems(snapshotOf([done], { epics }));
    assert.ok(item !== undefined && more.length === 0);
    assert.deepEqual([item.kind, item.title], ['unlanded', 'Accounts']);
    assert.deepEqual(item.actions.map(actionTitle), ['Land Epic', 'Review']);
    const asked: unknown[] = [];
    const action = async (name: string, params: unknown): Promise<void> =>
      void asked.push([name, params]);
    const [land] = item.actions;
    assert.ok(land !== undefined);
    await runItemAction({ action } as unknown as Host, item, land, '');
    assert.deepEqual(asked, [['landEpic', { epic: 'e' }]]);
  });

  test('a result that git ignores is named, and can be landed or dropped', async () => {
    const [item] = inboxItems(
      snapshotOf([
        taskView({
          id: 'a',
          status: 'needs_review',
          review_kind: 'no_changes',
          held_files: ['dist/report.pdf'],
          verdict_reason: 'changed nothing; 1 ignored file was not committed: dist/report.pdf',
        }),
      ]),
    );
    assert.ok(item !== undefined);
    assert.match(item.text, /1 ignored file was not committed: dist\/report\.pdf\.$/u);
    const titles = ['Land Ignored Files', 'Approve', 'Send Back…'];
    assert.deepEqual(item.actions.map(actionTitle), titles);
    const asked: unknown[] = [];
    const host = {
      backend: async (name: string, params: unknown) => void asked.push([name, params]),
    } as unknown as Host;
    for (const action of item.actions.slice(0, 2)) await runItemAction(host, item, action, '');
    assert.deepEqual(asked, [
      ['approve', { id: 'a', with_ignored: true }],
      ['approve', { id: 'a' }],
    ]);
  });

  test('a task behind a branch that fails its gate can be retried, explained, or started anyway', async () => {
    const reason = "The gate already fails on main (bd56f7f), without any task's work: npm test";
    const task = taskView({ id: 'a', status: 'blocked', blocked_reason: reason, block: redBase });
    const [item] = inboxItems(snapshotOf([task]));
    assert.deepEqual(
      [item?.text, item?.actions.map((action) => actionTitle(action))],
      [reason, ['Retry', 'Gate Output', 'Start Anyway…', 'Open']],
    );
    assert.equal(statusLook(task).words, 'blocked: main fails its gate');
    const anyway = item?.actions[2];
    assert.ok(item !== undefined && anyway !== undefined && mayBeBlank(anyway));
    assert.equal(wordsAsked(anyway), 'What should the agent know? (optional)');
    const calls: unknown[] = [];
    const host = {
      action: (name: string, params: unknown) => Promise.resolve(calls.push([name, params])),
    } as unknown as Host;
    await runItemAction(host, item, anyway, '');
    assert.deepEqual(calls, [['resolve', { task: 'a', note: '', anyway: true }]]);
  });

  test('candidates are one item once all are done, and can be compared, or landed with one click', async () => {
    const green = { status: 'needs_review', review_kind: 'candidate', candidate_of: 'a' } as const;
    const one = { number: 1, added_lines: 12, removed_lines: 3 };
    const two = { number: 2, added_lines: 4, removed_lines: 0 };
    const tasks = [
      taskView({ id: 'a', title: 'Sort prices', status: 'blocked' }),
      taskView({ id: 'a-c1', ...green, candidate: one, cost: 0.01 }),
      taskView({ id: 'a-c2', ...green, candidate: two }),
      taskView({
        id: 'a-c3',
        status: 'failed',
        candidate_of: 'a',
        candidate: { number: 3, added_lines: null, removed_lines: null },
      }),
    ];
    // Nothing is asked before all candidates are done.
    assert.deepEqual(inboxItems(snapshotOf(tasks)), []);
    const question = questionView({ id: 'q', task_id: 'a', choices: ['a-c1', 'a-c2'] });
    const items = inboxItems({ ...snapshotOf(tasks), questions: [question] });
    assert.deepEqual(
      items.map(({ title, text }) => [title, text.split('\n')]),
      [
        [
          'Sort prices',
          [
            'Which candidate should land?',
            'Candidate 1, +12 −3, green, $0.01',
            'Candidate 2, +4 −0, green',
            'Candidate 3, failed',
          ],
        ],
      ],
    );
    assert.deepEqual(items[0]?.actions.map(actionTitle), [
      'Compare',
      'Land Candidate 1 (+12 −3, $0.01)',
      'Land Candidate 2 (+4 −0)',
      'Open',
    ]);
  });

  test('a review is shown as a review', () => {
    const [item] = inboxItems(snapshotOf([taskView({ id: 'a', status: 'needs_review' })]));
    assert.deepEqual([item?.kind, item?.seen], ['review', undefined]);
  });

  test('waiting landed work and problems of a checkout have a reason and a button', () => {
    const old = {
      checkout: '/c',
      from: 'a'.repeat(40),
      to: 'b'.repeat(40),
      files: ['x'],
      count: 1,
    };
    const back = {
      kind: 'moved_back',
      commits: 2,
      tip: old.to,
      ref: 'refs/drover/rescue/x',
    } as const;
    const target = {
      branch: 'main',
      sha: null,
      pending: 1,
      pending_reason: 'Local changes in /c are in the way: x.',
      wrong: [{ ...old, kind: 'old' }, { ...old, kind: 'missing' }, back] as const,
    };
    const items = inboxItems(snapshotOf([], { target }));
    const buttons = new Map(items.map(({ key, actions }) => [key, actions.map(actionTitle)]));
    assert.deepEqual(Object.fromEntries(buttons), {
      pending: ['Try Again'],
      'wrong/old': ['Update Files'],
      'wrong/missing': ['Restore Files'],
      'wrong/moved_back': ['Bring Back', 'Leave Out'],
    });
    for (const { key, text } of items)
      assert.match(text, key === 'pending' ? /in the way: x\./ : /"drover follow main"/);
  });
});
