// The sample project: a small repository with an epic of eight tasks for the demo agent, which
// needs no model.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { BackendAccess } from '../backend/access.ts';
import { personEnvironment } from './project.ts';
import { readSettings } from './settings.ts';

const openedKey = 'drover.sampleOpened';

/** True once, in the window that opens with a newly created sample. */
export async function isFreshSample(
  memory: vscode.Memento,
  roots: readonly string[],
): Promise<boolean> {
  const opened = memory.get<string>(openedKey);
  if (opened === undefined || !roots.includes(opened)) return false;
  await memory.update(openedKey, undefined);
  return true;
}

/** Opens the sample in this window, or null if the person canceled. */
export async function openSample(access: BackendAccess, memory: vscode.Memento): Promise<void> {
  const [parent] =
    (await vscode.window.showOpenDialog({
      title: 'Where Should the Sample Project Go?',
      openLabel: 'Create Sample Here',
      canSelectFolders: true,
      canSelectFiles: false,
      canSelectMany: false,
    })) ?? [];
  if (parent === undefined) return;
  const root = await createSample(access, parent.fsPath);
  await memory.update(openedKey, root);
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(root), {
    forceReuseWindow: true,
  });
}

export async function createSample(access: BackendAccess, parent: string): Promise<string> {
  const git = await access.git();
  if (git.kind !== 'ok') throw new Error(git.message);
  const folder = join(parent, 'drover-sample');
  mkdirSync(folder);
  const { root, planFile } = access.makeSample(folder);
  const environment = personEnvironment(readSettings(null));
  for (const args of [['init'], ['import', planFile]]) {
    const { code, stderr } = await access.command(args, root, environment);
    if (code !== 0) throw new Error(`The sample could not be set up: ${stderr.trim()}`);
  }
  return root;
}
