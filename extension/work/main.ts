// The second bundle: everything that activation defers. It passes in the server's own code as plain
// functions.

import * as vscode from 'vscode';
import {
  commitAll,
  createRepository,
  filesToCommit,
  gitState,
  isAtWork,
  makeSample,
  openBackend,
  findProjectRoot,
  runCommand,
  servePage,
} from '../../server/main/editor.ts';
import type { BackendAccess } from '../backend/access.ts';
import { DroverWindow } from '../drover-window.ts';

const access: BackendAccess = {
  open: openBackend,
  isAtWork,
  git: gitState,
  rootOf: findProjectRoot,
  createRepository,
  filesToCommit,
  commitAll,
  command: runCommand,
  servePage,
  makeSample,
};

/** `startedMs`: the time at which the activation started, on this process's clock. */
export async function openWindow(
  extension: vscode.ExtensionContext,
  startedMs: number,
): Promise<DroverWindow> {
  const log = vscode.window.createOutputChannel('Drover', { log: true });
  const window = new DroverWindow({ extension, log, access, startedMs });
  extension.subscriptions.push(log, window);
  await window.start();
  return window;
}
