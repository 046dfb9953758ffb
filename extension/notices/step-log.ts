// The output of the gate or the setup command as a read-only document, with the locations that it
// names in the Problems panel.

import { isAbsolute, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { fileInside } from '../links/file-inside.ts';
import { namedPlaces } from '../links/named-places.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { problemCause } from './problem-cause.ts';

const logScheme = 'drover-log';

/** One log is shown at a time: its text is kept for the document that shows it. */
const texts = new Map<string, string>();
const keptMax = 50;

export async function showStepLog(
  project: Project,
  task: string,
  attempt: number,
  step: 'setup' | 'gate',
): Promise<void> {
  const { text, is_cut, path } = await project.request('step.log', { id: task, attempt, step });
  const title = project.board?.tasks.find(({ id }) => id === task)?.title ?? task;
  const name = `${step} ${title.replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ').slice(0, 60)}.log`;
  const uri = vscode.Uri.from({ scheme: logScheme, path: `/${name}`, query: path });
  texts.delete(uri.toString());
  texts.set(uri.toString(), `${is_cut ? '… (the beginning is left out)\n' : ''}${plain(text)}`);
  const [oldest] = texts.keys();
  if (texts.size > keptMax && oldest !== undefined) texts.delete(oldest);
  await vscode.window.showTextDocument(uri, { preview: true });
  await showProblems(project, task, plain(text), step);
}

export function registerStepLogs(projects: Projects): vscode.Disposable {
  const documents = vscode.workspace.registerTextDocumentContentProvider(logScheme, {
    provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? 'Open this log again.\n',
  });
  return vscode.Disposable.from(documents, projects.onChange(clearWithCause));
}

let problems: vscode.DiagnosticCollection | null = null;
/** The task whose problems are shown, and the task's state that they explain. */
let shown: { readonly project: Project; readonly task: string; readonly cause: string } | null =
  null;

function causeNow(project: Project, task: string): string | null {
  return problemCause(project.board?.tasks.find(({ id }) => id === task) ?? null);
}

/** A board that cannot be read says nothing about the task. */
function clearWithCause(): void {
  if (shown === null || shown.project.board === null) return;
  if (causeNow(shown.project, shown.task) === shown.cause) return;
  shown = null;
  problems?.clear();
}

/** Files that the log names and that exist in the person's own checkout. */
async function showProblems(
  project: Project,
  task: string,
  text: string,
  step: string,
): Promise<void> {
  problems ??= vscode.languages.createDiagnosticCollection('drover');
  problems.clear();
  const cause = causeNow(project, task);
  shown = cause === null ? null : { project, task, cause };
  if (cause === null) return;
  const found = new Map<string, vscode.Diagnostic[]>();
  for (const { path, line, message } of namedPlaces(text)) {
    const inRoot = isAbsolute(path) ? relativeOf(project, path) : path;
    const file =
      inRoot === null ? null : await fileInside(join(project.root, inRoot), [project.root]);
    if (file === null) continue;
    const range = new vscode.Range(line - 1, 0, line - 1, Number.MAX_SAFE_INTEGER);
    const problem = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Error);
    problem.source = `Drover ${step}`;
    found.set(file, [...(found.get(file) ?? []), problem]);
  }
  // The task may have changed state while the files were looked up.
  if (causeNow(project, task) !== cause) return;
  for (const [file, all] of found) problems.set(vscode.Uri.file(file), all);
}

/** A path in a worktree names the same file in the checkout. */
function relativeOf(project: Project, path: string): string | null {
  const roots = [
    project.root,
    ...(project.board?.tasks ?? []).flatMap(({ worktree_path: at }) => (at === null ? [] : [at])),
  ];
  for (const root of roots) {
    const way = relative(root, path);
    if (way !== '' && !way.startsWith('..') && !isAbsolute(way)) return way;
  }
  return null;
}

/** Terminal colors mean nothing in a document. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- removes these
  return text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/gu, '').replaceAll('\r\n', '\n');
}
