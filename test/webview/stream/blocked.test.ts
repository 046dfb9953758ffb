// The page of a task that a person has to unblock.

import assert from 'node:assert/strict';
import { redBase } from '../../doubles/views.ts';
import { screenshot } from '../support/webview-page.ts';
import { taskId } from './attempt-view.ts';
import { FakeLog } from './fake-log.ts';
import { boardWith, openStream } from './stream-page.ts';

suite('webview: stream of a blocked task', () => {
  test('a blocked task explains why, with the output of the gate and the possible actions', async () => {
    const reason =
      "The gate already fails on main (bd56f7f), without any task's work: npm test ended with exit code 1: not ok 3 - broken.txt must not exist";
    const blocked = { status: 'blocked', phase: null, blocked_reason: reason } as const;
    const view = await openStream(new FakeLog([]), {
      attempts: [],
      state: { board: boardWith({ ...blocked, last_error: reason, block: redBase }) },
    });
    const why = view.page.getByRole('group', { name: 'Why it is blocked' });
    await why.getByText('not ok 3').waitFor();
    await view.page.getByText('blocked: main fails its gate').first().waitFor();
    await screenshot(view.page, 'stream-red-base');
    await why.getByRole('button', { name: 'Gate Output' }).click();
    assert.deepEqual(await view.host.waitFor('openStepLog'), {
      task: taskId,
      attempt: 0,
      step: 'gate',
    });
    await why.getByRole('button', { name: 'Start Anyway' }).click();
    assert.deepEqual(await view.host.waitFor('resolve'), { task: taskId, note: '', anyway: true });
    await why.getByRole('button', { name: 'Retry' }).waitFor();
    await view.close();
  });
});
