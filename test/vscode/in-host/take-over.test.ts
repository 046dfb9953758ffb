// Taking a task over: its agent ends, a terminal opens in its worktree, and closing that gives the task back.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { addTask, ready, taskOf, untilBoard, waitMs } from './support.ts';

suite('taking a task over', () => {
  test('it opens a terminal in the worktree, and returns the task when the terminal closes', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    const project = await untilBoard(exports, () => true);
    const { id } = await addTask(project, 'By hand', ['ask Go on?|yes|no', 'write a.txt a']);
    await vscode.workspace
      .getConfiguration('drover')
      .update('showPreflight', false, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('drover.runAll');
    const asked = await untilBoard(exports, (board) => board.questions.length === 1);
    const worktree = taskOf(asked.board, id).worktree_path;

    const opened = untilTerminal();
    await vscode.commands.executeCommand('drover.takeOver', id);
    const terminal = await opened;
    const options = terminal.creationOptions as vscode.TerminalOptions;
    assert.equal(options.cwd, worktree);
    assert.equal(terminal.name, 'By hand');
    await untilBoard(exports, (board) => taskOf(board, id).phase === 'by_hand');

    terminal.dispose();
    const again = await untilBoard(exports, (board) => board.questions.length === 1);
    assert.equal(taskOf(again.board, id).status, 'in_progress');
    const [question] = again.board?.questions ?? [];
    await project.request('answer', { id: question?.id ?? '', choice: 'yes' });
    await untilBoard(exports, (board) => taskOf(board, id).status === 'completed');
  });
});

function untilTerminal(): Promise<vscode.Terminal> {
  return new Promise((resolve, reject) => {
    const subscription = vscode.window.onDidOpenTerminal((terminal) => {
      subscription.dispose();
      clearTimeout(timer);
      resolve(terminal);
    });
    const timer = setTimeout(() => {
      subscription.dispose();
      reject(new Error('No terminal was opened.'));
    }, waitMs);
  });
}
