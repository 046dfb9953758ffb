// An untrusted workspace: nothing of it is read or run, and the state says so.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ready, waitMs, workspaceRoot } from './support.ts';

suite('an untrusted workspace', () => {
  test('it has one state with a next step, and no backend', async () => {
    assert.equal(vscode.workspace.isTrusted, false);
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    await exports.until((connection) => {
      return connection.kind === 'unavailable' && connection.reason === 'untrusted';
    }, waitMs);
    assert.deepEqual(exports.projects(), []);
    assert.ok(!existsSync(join(workspaceRoot(), '.drover', 'backend.json')));
  });

  test('it runs nothing, whatever is requested', async () => {
    const exports = await ready();
    for (const id of ['runAll', 'initialise', 'stopBackend', 'reconnect', 'openBoard']) {
      await vscode.commands.executeCommand(`drover.${id}`);
    }
    assert.deepEqual(exports.projects(), []);
    assert.ok(!existsSync(join(workspaceRoot(), '.drover', 'backend.json')));
    assert.match(exports.shown.join('\n'), /Restricted Mode/);
  });
});
