// The common part of the tests in the extension host: the extension's exports, git, and waiting for
// the board.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type {
  DroverExports,
  ExportsWhenReady,
  ProjectForTests,
} from '../../../extension/tools/exports.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';

export const waitMs = 60_000;

export function workspaceRoot(): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder !== undefined, 'a folder is open');
  return folder.uri.fsPath;
}

export async function activated(): Promise<DroverExports> {
  const extension = vscode.extensions.getExtension<DroverExports>('drover.drover');
  assert.ok(extension !== undefined, 'the extension is there');
  return await extension.activate();
}

export async function ready(): Promise<ExportsWhenReady> {
  return await (await activated()).ready();
}

/** Waits until the current project is connected and its board satisfies `holds`. */
export async function untilBoard(
  exports: ExportsWhenReady,
  holds: (board: StatusSnapshot) => boolean,
): Promise<ProjectForTests> {
  const project = await exports.until(
    (connection, board) => connection.kind === 'connected' && board !== null && holds(board),
    waitMs,
  );
  assert.ok(project !== null, 'there is a project');
  return project;
}

export function taskOf(board: StatusSnapshot | null, id: string): TaskView {
  const task = board?.tasks.find((each) => each.id === id);
  assert.ok(task !== undefined, `${id} is on the board`);
  return task;
}

export function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', workspaceRoot(), ...args], { encoding: 'utf8' }).trim();
}

export function backendPid(): number {
  const text = readFileSync(join(workspaceRoot(), '.drover', 'backend.json'), 'utf8');
  return (JSON.parse(text) as { pid: number }).pid;
}

/** Adds a task that the demo agent works on as the lines say. */
export async function addTask(
  project: ProjectForTests,
  title: string,
  lines: readonly string[],
  epic: string | null = null,
): Promise<TaskView> {
  const description = lines.map((line) => `demo: ${line}`).join('\n');
  return await project.request('task.add', { title, description, epic });
}

/** Waits for messages of the extension; the latest one comes first. */
export async function untilShown(
  exports: ExportsWhenReady,
  words: RegExp,
): Promise<readonly string[]> {
  const endMs = performance.now() + waitMs;
  for (;;) {
    const found = exports.shown.filter((text) => words.test(text));
    if (found.length > 0) return found.reverse();
    if (performance.now() > endMs) assert.fail(`${words} is not in: ${exports.shown.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
