// One clear state with a remedy if git is missing or too old, and no backend.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ready, waitMs } from './support.ts';

suite('old-git', () => {
  test('it causes one state with a next step', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    await exports.until((connection) => {
      return (
        connection.kind === 'unavailable' &&
        connection.reason === 'git_too_old' &&
        connection.message.startsWith('Git 2.30.2 is too old') &&
        connection.action?.command === 'drover.installGit'
      );
    }, waitMs);
    assert.deepEqual(exports.projects(), []);
  });
});
