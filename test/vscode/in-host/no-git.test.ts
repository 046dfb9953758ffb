// One clear state with a remedy if git is missing or too old, and no backend.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ready, waitMs } from './support.ts';

suite('no-git', () => {
  test('it causes one state with a next step', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    await exports.until((connection) => {
      return (
        connection.kind === 'unavailable' &&
        connection.reason === 'no_git' &&
        connection.message.startsWith('Git was not found') &&
        connection.action?.command === 'drover.installGit'
      );
    }, waitMs);
    assert.deepEqual(exports.projects(), []);
  });
});
