// The requests of a description field to the extension.

import * as vscode from 'vscode';
import { toFailure } from '../backend/failure.ts';
import type { Attached, HostActionName, HostActions } from '../../webview/messages/messages.ts';
import type { Project } from '../project/project.ts';
import type { WebviewHost } from '../webviews/webview-host.ts';
import { attachedText, imageEndings, readKeptImage } from './attached-files.ts';
import { quotedSelection } from './quoted-selection.ts';

type AttachmentActionName = Extract<
  HostActionName,
  'pickImages' | 'attachFiles' | 'quoteSelection' | 'readImage'
>;

type AttachmentActions = {
  readonly [N in AttachmentActionName]: (
    webview: WebviewHost,
    params: HostActions[N]['params'],
  ) => Promise<HostActions[N]['result']>;
};

/** More files at once are probably a mistake. */
const filesMax = 20;

export const attachmentActions: AttachmentActions = {
  async pickImages({ openProject: project }) {
    const chosen = await vscode.window.showOpenDialog({
      title: 'Add Images',
      openLabel: 'Add',
      canSelectMany: true,
      defaultUri: vscode.Uri.file(project.root),
      filters: { Images: [...imageEndings] },
    });
    return await attached(project, chosen ?? []);
  },
  async attachFiles({ openProject: project }, { uris }) {
    const given = Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
    return await attached(
      project,
      given.map((uri) => vscode.Uri.parse(uri)),
    );
  },
  quoteSelection({ openProject: { root } }, { text }) {
    const wanted = typeof text === 'string' ? text : null;
    return Promise.resolve({ text: quotedSelection(root, wanted) });
  },
  async readImage({ openProject: { root } }, { name }) {
    return { content: await readKeptImage(root, String(name)) };
  },
};

async function attached(project: Project, uris: readonly vscode.Uri[]): Promise<Attached> {
  const texts: string[] = [];
  const refused: string[] = [];
  if (uris.length > filesMax) {
    return { texts, refused: [`Add at most ${filesMax} files at once.`] };
  }
  for (const uri of uris) {
    try {
      texts.push(await attachedText(project, uri));
    } catch (error) {
      refused.push(toFailure(error).message);
    }
  }
  return { texts, refused };
}
