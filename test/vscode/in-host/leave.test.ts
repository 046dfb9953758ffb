// First half of a window that closes during a run: it starts agents and ends silently.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { addTask, ready, untilBoard } from './support.ts';

suite('a window that closes', () => {
  test('its agents keep running', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    const project = await untilBoard(exports, () => true);
    for (const name of ['a', 'b', 'c']) {
      await addTask(project, `Stay ${name}`, ['ask Go on?|yes|no', `write ${name}.txt ${name}`]);
    }
    await vscode.workspace
      .getConfiguration('drover')
      .update('showPreflight', false, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('drover.runAll');
    const running = await untilBoard(exports, (board) => board.questions.length === 3);
    assert.equal(running.board?.counts.in_progress, 3);
    assert.equal(running.board.run?.active, true);
  });
});
