// When only the extension host dies, VS Code starts a new one and leaves the old one's panels in
// the window, disconnected: neither the serializer nor anything else is notified
// (microsoft/vscode#225410, pull request 226069, open). A visible panel of Drover's that was not
// restored is such a panel: its tab is replaced.

import * as vscode from 'vscode';
import type { HostRestart } from './host-restart.ts';
import { panelNames, webviewIds, type PanelName } from '../ids.ts';

export interface LostPanelsParts {
  /** Titles of the panels that are owned, of one kind and in one column. */
  readonly held: (name: PanelName, column: vscode.ViewColumn) => readonly string[];
  /** Reopens the panel of a lost tab in its place; false if nothing is known about it. */
  readonly reopen: (name: PanelName, tab: vscode.Tab) => boolean;
  readonly restart: HostRestart;
}

/** How long a tab may be visible without its panel before it counts as lost. Null means never. */
const graceMs: { readonly [R in HostRestart]: number | null } = {
  same: 2_000,
  new: null,
  unknown: 8_000,
};

export class LostPanels implements vscode.Disposable {
  readonly #parts: LostPanelsParts;
  readonly #subscription: vscode.Disposable;
  readonly #seen = new WeakSet<vscode.Tab>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: LostPanelsParts) {
    this.#parts = parts;
    this.#subscription = vscode.window.tabGroups.onDidChangeTabs(() => this.#lookLater());
    this.#lookLater();
  }

  #lookLater(): void {
    const graceForMs = graceMs[this.#parts.restart];
    if (graceForMs === null || this.#timer !== null || this.#lost().length === 0) return;
    const suspects = this.#lost();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      for (const { name, tab } of this.#lost()) {
        if (suspects.some((suspect) => suspect.tab === tab)) this.#replace(name, tab);
      }
      this.#lookLater();
    }, graceForMs);
  }

  #lost(): readonly { readonly name: PanelName; readonly tab: vscode.Tab }[] {
    return vscode.window.tabGroups.all.flatMap((group) => {
      const tab = group.activeTab;
      const name = tab === undefined ? null : panelNameOf(tab);
      if (tab === undefined || name === null || this.#seen.has(tab)) return [];
      return this.#parts.held(name, group.viewColumn).includes(tab.label) ? [] : [{ name, tab }];
    });
  }

  #replace(name: PanelName, tab: vscode.Tab): void {
    this.#seen.add(tab);
    if (!this.#parts.reopen(name, tab)) return;
    const isThere = vscode.window.tabGroups.all.some(({ tabs }) => tabs.includes(tab));
    if (isThere) void vscode.window.tabGroups.close(tab, true);
  }

  /**
   * Tabs with a title that is not owned; after a reload, tabs that were not shown yet also count.
   */
  unheld(name: PanelName, title: string): readonly vscode.Tab[] {
    return vscode.window.tabGroups.all.flatMap(({ tabs, viewColumn }) => {
      const isHeld = this.#parts.held(name, viewColumn).includes(title);
      return tabs.filter((tab) => !isHeld && panelNameOf(tab) === name && tab.label === title);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** VS Code adds a prefix to the view type. */
function panelNameOf(tab: vscode.Tab): PanelName | null {
  const { input } = tab;
  if (!(input instanceof vscode.TabInputWebview)) return null;
  return panelNames.find((name) => input.viewType.endsWith(`-${webviewIds[name]}`)) ?? null;
}
