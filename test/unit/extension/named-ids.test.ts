// Sentences of the backend as VS Code shows them: titles instead of ids.

import assert from 'node:assert/strict';
import { withTitles } from '../../../extension/notices/named-ids.ts';
import { taskView } from '../../doubles/views.ts';
import { boardOf } from '../../webview/support/boards.ts';

suite('ids in sentences', () => {
  const board = boardOf(
    [
      taskView({ id: 'task-vcple3ff', title: 'Call the  bank' }),
      taskView({ id: 'task-vcple3ff.2', title: 'Its second part' }),
      taskView({ id: 'a', title: 'A word' }),
      taskView({ id: 'CHK-8', title: 'Write the receipt' }),
      taskView({ id: 'CHK-7', title: 'Charge the card' }),
      taskView({ id: 'read-only', title: 'Words' }),
      taskView({ id: 'task-long8', title: 'x'.repeat(80) }),
    ],
    [['epic-hc6gue2g', 'Take payments']],
  );
  const rows: readonly [text: string, shown: string][] = [
    ['task-vcple3ff waits for one task.', '“Call the bank” waits for one task.'],
    ['It waits for task-vcple3ff.2.', 'It waits for “Its second part”.'],
    [
      'epic-hc6gue2g (task-vcple3ff): stop, or task-vcple3ff, goes on',
      '“Take payments” (“Call the bank”): stop, or “Call the bank”, goes on',
    ],
    ['task-other and task-vcple3ff2 are not there', 'task-other and task-vcple3ff2 are not there'],
    ['src/task-vcple3ff/b.ts', 'src/task-vcple3ff/b.ts'],
    ['on drover/epic/epic-hc6gue2g', 'on drover/epic/epic-hc6gue2g'],
    ['no a here', 'no a here'],
    [
      'CHK-8 waits for CHK-7. Remove that dependency first, or both tasks.',
      '“Write the receipt” waits for “Charge the card”. Remove that dependency first, or both tasks.',
    ],
    ['it is read-only, as UTF-8 is', 'it is read-only, as UTF-8 is'],
    ['task-long8 here', `“${'x'.repeat(59)}…” here`],
  ];
  for (const [text, shown] of rows) {
    test(text, () => {
      assert.equal(withTitles(text, board), shown);
      assert.equal(withTitles(text, null), text);
    });
  }
});
