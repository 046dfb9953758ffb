// Pairs of files in VS Code's own multi-diff editor.

import * as vscode from 'vscode';
import type { FilePair } from './changed-files.ts';

export async function openPairs(title: string, pairs: readonly FilePair[]): Promise<void> {
  const resources = pairs.map(({ label, original, modified }) => [
    vscode.Uri.from(label),
    original === null ? undefined : vscode.Uri.from(original),
    modified === null ? undefined : vscode.Uri.from(modified),
  ]);
  await vscode.commands.executeCommand('vscode.changes', title, resources);
}
