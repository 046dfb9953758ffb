// The selection in an editor beside the panel, as Markdown that names its location.

import { relative, sep } from 'node:path';
import * as vscode from 'vscode';
import { quotedCode } from '../plan/task-from-code.ts';

/**
 * Returns null if no text is selected in a file of this repository, or if it is not the expected
 * text.
 */
export function quotedSelection(root: string, wanted: string | null): string | null {
  const { activeTextEditor: active, visibleTextEditors: visible } = vscode.window;
  for (const editor of [...(active === undefined ? [] : [active]), ...visible]) {
    const { document, selection } = editor;
    const path = relative(root, document.uri.fsPath).split(sep).join('/');
    if (document.uri.scheme !== 'file' || path.startsWith('..') || selection.isEmpty) continue;
    const text = document.getText(selection);
    if (wanted !== null && plainLines(text) !== plainLines(wanted)) continue;
    const isAtStart = selection.end.character === 0;
    return quotedCode({
      path,
      firstLine: selection.start.line + 1,
      lastLine: selection.end.line + (isAtStart ? 0 : 1),
      languageId: document.languageId,
      text,
    });
  }
  return null;
}

function plainLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
