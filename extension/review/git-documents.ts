// Files at a commit as read-only documents, directly from git, so that a review shows exactly the
// change that would land.

import * as vscode from 'vscode';
import type { Projects } from '../project/projects.ts';
import { gitScheme, readUri } from './git-uri.ts';

export function registerGitDocuments(projects: Projects): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(gitScheme, {
    provideTextDocumentContent: async (uri) => await textOf(projects, uri),
  });
}

async function textOf(projects: Projects, uri: vscode.Uri): Promise<string> {
  const file = readUri(uri);
  if (file === null) throw new Error('This address does not name a file of a review.');
  const project = projects.byRoot(file.root);
  if (project === null) throw new Error('The repository of this review is not open here.');
  if (file.path === null) return '';
  const connection = await project.settled();
  if (connection.kind === 'unavailable') throw new Error(connection.message);
  const { text, binary, size } = await project.request('file.read', {
    sha: file.sha,
    path: file.path,
  });
  if (text !== null) return text;
  if (binary) return `This file is not text (${size} bytes).\n`;
  return size > 0 ? `This file is too large to be shown (${size} bytes).\n` : '';
}
