// A repository in which Drover is not set up yet: one clear state with a way on, and the way works.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { git, ready, untilBoard, waitMs, workspaceRoot } from './support.ts';

suite('a repository without Drover', () => {
  test('says so, with the command that helps, and changes nothing by itself', async () => {
    const exports = await ready();
    await exports.until((connection) => {
      return connection.kind === 'unavailable' && connection.reason === 'not_initialised';
    }, waitMs);
    assert.ok(!existsSync(join(workspaceRoot(), '.drover')));
    await vscode.commands.executeCommand('drover.runAll');
    assert.match(exports.shown.join('\n'), /Drover is not set up in this repository yet/);
  });

  test('is set up by one command, and connected', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.initialise');
    const project = await untilBoard(exports, (board) => board.tasks.length === 0);
    assert.equal(project.root, workspaceRoot());
    assert.equal(git('status', '--porcelain'), '');
  });
});
