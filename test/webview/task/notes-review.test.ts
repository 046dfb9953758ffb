// The notes of an epic and the review by an agent, on the page of a task.

import assert from 'node:assert/strict';
import type { NoteView } from '../../../server/protocol/requests/notes.ts';
import type { ReviewView } from '../../../server/protocol/requests/reviews.ts';
import { answerReads } from '../support/answers.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, numbered } from '../support/boards.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

const note: NoteView = {
  id: 'note-1',
  text: 'Amounts are in cents. <b>\u202e',
  epic_id: 'shop',
  task_id: 'find',
  attempt: 1,
  kept: false,
  path: 'src/cart.ts',
  line: 12,
  commit_sha: 'a',
  created_at: 1,
  used_at: 1,
  uses: 2,
};

const finding = { path: 'src/cart.ts', line: 3, overruled: false } as const;
const review: ReviewView = {
  task_id: 'print',
  tree_sha: 't',
  attempt: 1,
  agent: 'codex',
  model: null,
  verdict: 'block',
  blocking: 1,
  findings: [
    { ...finding, severity: 'blocking', text: 'The total is wrong. <i>' },
    { ...finding, path: null, line: null, severity: 'minor', text: 'Long.' },
  ],
  criteria: [
    { text: 'It adds up.', met: false, evidence: 'no test' },
    { text: 'It prints.', met: true, evidence: 'print.test.ts:4' },
  ],
  at: 1,
};

suite('webview: notes and review of a task', () => {
  let view: OpenWebview;

  setup(async () => {
    const board = boardOf(numbered([{ id: 'print', title: 'Print the tree' }]), []);
    view = await openWebview('stream', {
      state: { board, subject: { id: 'print', attempt: null } },
      prepare: (host) => {
        answerReads(host);
        host.backend('attempts', () => []);
        host.backend('log.read', () => {
          throw new Error('no attempt yet');
        });
        host.backend('notes.list', () => [{ ...note, kept: true }]);
        host.backend('notes.add', () => note);
        host.backend('notes.drop', ({ id }) => ({ dropped: id }));
        host.backend('review.show', () => review);
        host.backend('review.overrule', ({ finding: number }) => ({
          ...review,
          blocking: 0,
          findings: review.findings.with(number - 1, { ...review.findings[0]!, overruled: true }),
        }));
        host.action('openFile', () => ({}) as never);
      },
    });
    await view.page.getByText('Review by codex: has blocking findings').waitFor();
  });
  teardown(() => view.close());

  test('findings and criteria are shown as text, open their line, and are overruled once', async () => {
    const { page, host } = view;
    await page.getByText('The total is wrong. <i>').waitFor();
    await page.getByText('Not met: no test').waitFor();
    await page.getByText('Met: print.test.ts:4').waitFor();
    await screenshot(page, 'task-review');
    await checkAxe(page);
    await page.getByRole('button', { name: 'src/cart.ts:3' }).click();
    assert.deepEqual(await host.waitFor('openFile'), { path: 'src/cart.ts', line: 3 });
    await page.getByRole('button', { name: 'Overrule finding 1' }).click();
    assert.deepEqual(await host.waitFor('review.overrule'), { id: 'print', finding: 1 });
    await page.getByText('Review by codex: nothing blocks').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Overrule finding 1' }).count(), 0);
  });

  test('a note is shown with its source, added by Enter, and removed', async () => {
    const { page, host } = view;
    await page.getByText('Amounts are in cents. <b>U+202E').waitFor();
    await page.getByText('by find, in 2 prompts').waitFor();
    const field = page.getByRole('textbox', { name: 'Add a note for all agents of the project' });
    await field.fill('The API is frozen.');
    await field.press('Enter');
    assert.deepEqual(await host.waitFor('notes.add'), { text: 'The API is frozen.' });
    await page.getByRole('button', { name: /^Remove the note: Amounts/ }).click();
    assert.deepEqual(await host.waitFor('notes.drop'), { id: 'note-1' });
  });
});
