// Two repositories in one window: a backend for each, and one is current.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ready, untilBoard, workspaceRoot } from './support.ts';

suite('several repositories', () => {
  test('each is a separate project, and only the current one has a backend', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    const current = await untilBoard(exports, () => true);
    assert.equal(current.root, workspaceRoot());
    const roots = exports.projects().map(({ root }) => root);
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    assert.deepEqual(roots, folders);
    const started = roots.map((root) => existsSync(join(root, '.drover', 'backend.json')));
    assert.deepEqual(started, [true, false]);
  });
});
