// Files that people add to a description: an image is stored in the project, and any other file of
// the repository is referenced by its path.

import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import type * as vscode from 'vscode';
import {
  attachmentBytesMax,
  attachmentText,
  detectImageType,
  isAttachmentName,
  otherTypeSentence,
  tooLargeSentence,
} from '../../server/core/plan/attachments.ts';
import { BackendFailure } from '../backend/failure.ts';
import { fileInside } from '../links/file-inside.ts';
import type { Project } from '../project/project.ts';

export const imageEndings = ['png', 'jpg', 'jpeg', 'gif', 'webp'] as const;

/** Returns the Markdown for a file; throws a sentence if the file cannot be added. */
export async function attachedText(project: Project, uri: vscode.Uri): Promise<string> {
  const path = uri.fsPath;
  const name = basename(path);
  // VS Code in a browser or on another machine uses a separate scheme for files of this machine.
  const isHere = uri.scheme === 'file' || uri.scheme === 'vscode-remote';
  const facts = isHere ? await stat(path).catch(() => null) : null;
  if (facts === null) throw new BackendFailure('file', `${name} cannot be read.`);
  const isImage = imageEndings.some((ending) => name.toLowerCase().endsWith(`.${ending}`));
  if (isImage && facts.isFile()) return await keptImage(project, path, facts.size);
  const real = await fileInside(path, [project.root]);
  if (real === null) {
    throw new BackendFailure(
      'file',
      `${name} is outside of the repository, where agents cannot read it.`,
    );
  }
  const way = relative(project.root, path).split(sep).join('/');
  return `\`${way}${facts.isDirectory() ? '/' : ''}\``;
}

async function keptImage(project: Project, path: string, size: number): Promise<string> {
  const label = basename(path);
  if (size > attachmentBytesMax) throw new BackendFailure('file', tooLargeSentence(label));
  const content = await bytesOf(path, constants.O_RDONLY);
  if (detectImageType(content) === null) throw new BackendFailure('file', otherTypeSentence(label));
  const { name } = await project.request('attachment.add', {
    content: content.toString('base64'),
  });
  return attachmentText(name, label);
}

/** Returns an image that the project stores, in base64, or null for everything else. */
export async function readKeptImage(root: string, name: string): Promise<string | null> {
  if (!isAttachmentName(name)) return null;
  const path = join(root, '.drover', 'attachments', name);
  try {
    // The folder belongs to the backend, which would not have written links there, so links are not
    // followed.
    const content = await bytesOf(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return detectImageType(content) === null ? null : content.toString('base64');
  } catch {
    return null;
  }
}

async function bytesOf(path: string, flags: number): Promise<Buffer> {
  const file = await open(path, flags);
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > attachmentBytesMax) {
      throw new BackendFailure('file', tooLargeSentence(basename(path)));
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}
