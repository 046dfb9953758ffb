// The status bar item: how many agents run, and how many tasks wait for their turn or for a person.

import * as vscode from 'vscode';
import type { CommandId } from '../ids.ts';
import { statusBarHover, statusBarText, type Summary } from './summary.ts';

export class StatusBar implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor() {
    this.#item = vscode.window.createStatusBarItem(
      'drover.status',
      vscode.StatusBarAlignment.Left,
      10,
    );
    this.#item.name = 'Drover';
  }

  show(summary: Summary, costs: readonly string[], isWanted: boolean): void {
    if (!isWanted) return this.#item.hide();
    const item = this.#item;
    item.text = statusBarText(summary);
    const hover = statusBarHover(summary, costs);
    item.tooltip = hover;
    item.accessibilityInformation = { label: hover.replaceAll('\n', '. '), role: 'button' };
    const command: CommandId = summary.needYou > 0 ? 'drover.showInbox' : 'drover.showTree';
    item.command = command;
    item.backgroundColor =
      summary.needYou > 0 ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}
