// A review in the real VS Code: its own multi-diff editor shows the landed change, as git has it.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { addTask, git, ready, taskOf, untilBoard } from './support.ts';

suite('a review in its host', () => {
  test('it opens the change of a task against its base as read-only', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    const project = await untilBoard(exports, () => true);
    const task = await addTask(project, 'Say hello', ['write hello.txt hello']);
    await vscode.workspace
      .getConfiguration('drover')
      .update('showPreflight', false, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('drover.runAll');
    await untilBoard(exports, (board) => taskOf(board, task.id).status === 'completed');

    const opened = new Promise<vscode.TextDocument>((done) => {
      const subscription = vscode.workspace.onDidOpenTextDocument((document) => {
        if (document.uri.scheme !== 'drover-git') return;
        subscription.dispose();
        done(document);
      });
    });
    await vscode.commands.executeCommand('drover.review', task.id);
    const document = await opened;
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    assert.equal(tab?.label, 'Say hello (landed) (1 file)');
    assert.equal(document.getText().trim(), git('show', 'main:hello.txt').trim());
    assert.equal(document.uri.path, '/hello.txt');
    assert.equal(vscode.workspace.fs.isWritableFileSystem('drover-git'), undefined);
  });

  test('comments can be written in it', async () => {
    const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'drover-git');
    assert.ok(shown !== undefined);
    const controller = vscode.comments.createCommentController('test', 'Test');
    const thread = controller.createCommentThread(shown.uri, new vscode.Range(0, 0, 0, 0), []);
    await vscode.commands.executeCommand('drover.addComment', { thread, text: 'Say it louder.' });
    controller.dispose();
    const { shown: told } = await ready();
    assert.ok(!told.some((text) => text.includes('omment')), told.join('\n'));
  });

  test('addresses that name no file of a review are refused', async () => {
    const query = JSON.stringify({
      root: '/',
      sha: 'HEAD',
      path: '../x',
      review: 'x',
      side: 'head',
    });
    const uri = vscode.Uri.from({ scheme: 'drover-git', path: '/x', query });
    await assert.rejects(Promise.resolve(vscode.workspace.openTextDocument(uri)));
  });
});
