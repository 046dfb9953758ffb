// Converts a row of Drover's trees to a tree item of VS Code.

import * as vscode from 'vscode';
import { plainText } from '../notices/plain-text.ts';
import type { TreeRow } from './tree-row.ts';

export function toTreeItem(row: TreeRow, isFolder: boolean): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(
    plainText(row.label),
    isFolder ? (row.isOpen ? Expanded : Collapsed) : None,
  );
  item.id = row.id;
  item.description = plainText(row.description);
  item.tooltip = row.tooltip
    .split('\n')
    .map((line) => plainText(line))
    .join('\n');
  const color = row.color === null ? undefined : new vscode.ThemeColor(row.color);
  item.iconPath = new vscode.ThemeIcon(row.icon, color);
  item.contextValue = row.context;
  if (row.stream !== null) {
    const { task, attempt } = row.stream;
    const about = attempt === null ? [task] : [{ task, attempt }];
    item.command = { command: 'drover.openStream', title: 'Open Stream', arguments: about };
  }
  return item;
}
