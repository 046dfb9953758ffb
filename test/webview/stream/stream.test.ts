// The stream panel alone in Chromium.

import assert from 'node:assert/strict';
import { questionView } from '../../doubles/views.ts';
import { screenshot } from '../support/webview-page.ts';
import { FakeLog, outputLines } from './fake-log.ts';
import { taskId } from './attempt-view.ts';
import { boardWith, conversation, openStream } from './stream-page.ts';

const question = questionView({
  id: 'q-1',
  task_id: taskId,
  attempt: 1,
  kind: 'permission',
  text: 'Claude Code wants to use Bash:\nnpm install',
  choices: ['Allow', 'Deny'],
});

suite('webview: stream', () => {
  test('shows a conversation with something of every kind', async () => {
    const view = await openStream(new FakeLog(conversation()), {
      state: { board: boardWith({}, { questions: [question] }) },
    });
    await view.page.getByRole('article', { name: /Permission/ }).waitFor();
    await screenshot(view.page, 'stream-conversation');
    await view.close();
  });

  test('opens at the end of a log of 100,000 lines', async () => {
    const view = await openStream(new FakeLog(outputLines(100_000)));
    await view.page.getByText('line 99999').waitFor();
    const measured = await view.host.until('open is measured', () =>
      view.host
        .of('measured')
        .find(({ params }) => (params as { name: string }).name === 'stream.open'),
    );
    console.log(measured.params);
    await screenshot(view.page, 'stream-large');
    assert.ok(view.host.of('log.read').length < 5);
    await view.close();
  });
});
