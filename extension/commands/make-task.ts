// "Make a Task of This": a selection, a problem or a note in an editor, or a failing test, becomes
// a task, and its page opens.

import { relative, sep } from 'node:path';
import * as vscode from 'vscode';
import { testChosen } from '../plan/shown-test.ts';
import { proposeTask, type Problem, type ProposedTask } from '../plan/task-from-code.ts';
import { proposeForTest } from '../plan/task-from-test.ts';
import { withProject, type Handlers } from './context.ts';
import { pickEpicForTask } from './pick.ts';
import { whyNoTitle } from '../plan/task-title.ts';

export const makeTaskHandlers: Handlers<'drover.makeTask'> = {
  'drover.makeTask': withProject(async (context, shown, _target) => {
    const meant = ofTest(context.args) ?? ofCode(context.args);
    if (meant === null) throw new Error('Open a file and select what the task is about.');
    const { uri, propose } = meant;
    const { all } = context.projects;
    // A test without a file can only belong to the shown repository.
    const owner = uri === null ? shown : (all.find(({ root }) => isInside(uri, root)) ?? null);
    if (owner === null)
      throw new Error('This file is not in a repository that Drover is set up in.');
    if (owner !== shown) await owner.settled();
    const path = uri === null ? null : relative(owner.root, uri.fsPath).split(sep).join('/');
    const proposed = propose(path);
    const title = await vscode.window.showInputBox({
      title: 'Make a Task of This',
      prompt: 'Title of the task. Its place and text become the description.',
      value: proposed.title,
      validateInput: whyNoTitle,
    });
    if (title === undefined) return;
    const epic = await pickEpicForTask(owner);
    if (epic === undefined) return;
    const { description } = proposed;
    const task = await owner.request('task.add', { title: title.trim(), description, epic });
    context.showPanel('stream', { root: owner.root, id: task.id, attempt: null });
  }),
};

/** The subject of the task, and its file. */
interface Meant {
  readonly uri: vscode.Uri | null;
  readonly propose: (path: string | null) => ProposedTask;
}

function ofTest(args: readonly unknown[]): Meant | null {
  const chosen = testChosen(args);
  if (chosen === null) return null;
  return { uri: chosen.uri, propose: (path) => proposeForTest({ ...chosen.test, path }) };
}

function ofCode(args: readonly unknown[]): Meant | null {
  const place = placeOf(args);
  if (place === null) return null;
  const { document, range } = place;
  const code = {
    firstLine: range.start.line + 1,
    lastLine: range.end.line + 1,
    languageId: document.languageId,
    text: document.getText(range),
  };
  const problems = problemsIn(document.uri, range);
  return {
    uri: document.uri,
    propose: (path) => proposeTask({ ...code, path: path ?? '' }, problems),
  };
}

interface Place {
  readonly document: vscode.TextDocument;
  /** Whole lines. */
  readonly range: vscode.Range;
}

/** The argument of a code action, or else the selection of the active editor. */
function placeOf(args: readonly unknown[]): Place | null {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return null;
  const { document } = editor;
  const [uri, given] = args;
  const isHere = uri instanceof vscode.Uri && uri.toString() === document.uri.toString();
  const range = isHere && given instanceof vscode.Range ? given : editor.selection;
  const isAtStart = range.end.character === 0 && range.end.line > range.start.line;
  const last = isAtStart ? range.end.line - 1 : range.end.line;
  return {
    document,
    range: new vscode.Range(range.start.line, 0, last, document.lineAt(last).text.length),
  };
}

function problemsIn(uri: vscode.Uri, range: vscode.Range): readonly Problem[] {
  return vscode.languages
    .getDiagnostics(uri)
    .filter((each) => each.severity <= vscode.DiagnosticSeverity.Warning)
    .filter((each) => each.range.intersection(range) !== undefined)
    .map(({ message, source, code, range: at }) => ({
      message,
      source: [source, typeof code === 'object' ? code.value : code]
        .filter((part) => part !== undefined)
        .join(' '),
      line: at.start.line + 1,
    }));
}

function isInside(uri: vscode.Uri, root: string): boolean {
  const path = relative(root, uri.fsPath);
  return uri.scheme === 'file' && path !== '' && !path.startsWith('..');
}
