// Addresses that lead into Drover.

import assert from 'node:assert/strict';
import { linkTo, readLink } from '../../../extension/links/links.ts';

suite('links', () => {
  test('they open a task, an epic, a run and the inbox', () => {
    assert.deepEqual(readLink('/task/task-abc.1'), { kind: 'task', id: 'task-abc.1' });
    assert.deepEqual(readLink('/epic/epic-abc/'), { kind: 'epic', id: 'epic-abc' });
    assert.deepEqual(readLink('/run/run-abc'), { kind: 'run', id: 'run-abc' });
    assert.deepEqual(readLink('/inbox'), { kind: 'inbox' });
  });

  test('links that lead nowhere or outside the board are ignored', () => {
    const none = [
      '',
      '/',
      '/task',
      '/task/',
      '/task/a/b',
      '/cancel/task-a',
      '/task/..',
      '/inbox/x',
    ];
    for (const path of [...none, '/task/%2e%2e%2fx', '/task/%zz', '/task/a b']) {
      assert.equal(readLink(path), null, path);
    }
  });

  test('copied links lead back', () => {
    const link = linkTo('vscode', 'task', 'task-abc.1');
    assert.equal(link, 'vscode://drover.drover/task/task-abc.1');
    assert.deepEqual(readLink(new URL(link).pathname), { kind: 'task', id: 'task-abc.1' });
  });
});
