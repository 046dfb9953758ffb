// The panels of the editor area: one for each attempt, one grid, one board; brought back after a reload.

import * as vscode from 'vscode';
import type { TaskView } from '../../server/protocol/views.ts';
import { webviewIds, type PanelName } from '../ids.ts';
import { subjectOf } from './html.ts';
import { LostPanels } from './lost-panels.ts';
import type { PanelMemory } from './panel-memory.ts';
import { statusIcons } from './status-icon.ts';
import { readSubject, subjectKey, type Subject } from './subject.ts';
import { WebviewHost, type WebviewSurroundings } from './webview-host.ts';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  readonly host: WebviewHost;
  readonly key: string;
}

/** More panels than anybody looks at; the one that was not looked at for longest is closed. */
const panelsMax = 64;
const titleMax = 40;

const titles: { readonly [N in PanelName]: string } = {
  stream: 'Stream',
  grid: 'Agents',
  board: 'Board',
};
const icons: { readonly [N in PanelName]: string } = {
  stream: 'output',
  grid: 'layout',
  board: 'project',
};

export class Panels implements vscode.Disposable {
  readonly #around: WebviewSurroundings;
  readonly #memory: PanelMemory;
  readonly #lost: LostPanels;
  readonly #open = new Map<string, OpenPanel>();
  readonly #onActive: (host: WebviewHost) => void;
  readonly #onClosed: (host: WebviewHost) => void;

  constructor(
    around: WebviewSurroundings,
    memory: PanelMemory,
    onActive: (host: WebviewHost) => void,
    onClosed: (host: WebviewHost) => void,
  ) {
    this.#around = around;
    this.#onActive = onActive;
    this.#onClosed = onClosed;
    this.#memory = memory;
    this.#lost = new LostPanels({
      held: (name, column) => this.#titles(name, column),
      reopen: (name, tab) => this.#reopen(name, tab),
    });
  }

  get hosts(): readonly WebviewHost[] {
    return [...this.#open.values()].map(({ host }) => host);
  }

  show(name: PanelName, subject: Subject): void {
    const present = this.#open.get(subjectKey(name, subject));
    if (present !== undefined) return present.panel.reveal();
    const place = { viewColumn: vscode.ViewColumn.Active, preserveFocus: false };
    this.#adopt(name, subject, newPanel(name, titles[name], place));
  }

  restore(name: PanelName, panel: vscode.WebviewPanel, state: unknown): void {
    const subject = readSubject(subjectOf(state));
    const present = this.#open.get(subjectKey(name, subject));
    if (present !== undefined || (name === 'stream' && subject.id === null)) panel.dispose();
    else this.#adopt(name, subject, panel);
  }

  /** Titles and icons follow the board. */
  refreshTitles(root: string, taskOf: (id: string) => TaskView | null): void {
    for (const { panel, host } of this.#open.values()) {
      const { id, attempt } = host.subject;
      if (host.name !== 'stream' || id === null || host.subject.root !== root) continue;
      const task = taskOf(id);
      if (task === null) continue;
      const title = streamTitle(task.title, attempt);
      if (panel.title !== title) {
        panel.title = title;
        this.#memory.remember('stream', title, host.subject);
      }
      const { icon, color } = statusIcons[task.status];
      const theme = color === null ? undefined : new vscode.ThemeColor(color);
      const present = panel.iconPath;
      const isSame = present instanceof vscode.ThemeIcon && present.id === icon;
      if (!isSame) panel.iconPath = new vscode.ThemeIcon(icon, theme);
    }
  }

  #titles(name: PanelName, column: vscode.ViewColumn): readonly string[] {
    return [...this.#open.values()]
      .filter(({ panel, host }) => host.name === name && panel.viewColumn === column)
      .map(({ panel }) => panel.title);
  }

  #reopen(name: PanelName, tab: vscode.Tab): boolean {
    const subjects = this.#memory.subjectsOf(name, tab.label);
    const subject = subjects.find((each) => !this.#open.has(subjectKey(name, each)));
    if (subject === undefined) return subjects.length > 0;
    const place = { viewColumn: tab.group.viewColumn, preserveFocus: !tab.group.isActive };
    this.#adopt(name, subject, newPanel(name, tab.label, place));
    return true;
  }

  #adopt(name: PanelName, subject: Subject, panel: vscode.WebviewPanel): void {
    this.#makeRoom();
    const key = subjectKey(name, subject);
    panel.iconPath = new vscode.ThemeIcon(icons[name]);
    const host = new WebviewHost(name, subject, panel.webview, () => panel.visible, this.#around);
    this.#open.set(key, { panel, host, key });
    this.#memory.remember(name, panel.title, subject);
    panel.onDidDispose(() => {
      host.dispose();
      this.#open.delete(key);
      this.#onClosed(host);
    });
    panel.onDidChangeViewState(() => {
      if (panel.active) this.#onActive(host);
      if (panel.visible) host.pushState();
    });
    if (panel.active) this.#onActive(host);
  }

  #makeRoom(): void {
    if (this.#open.size < panelsMax) return;
    const oldest = [...this.#open.values()].find(({ panel }) => !panel.visible);
    oldest?.panel.dispose();
  }

  dispose(): void {
    // The panels stay: VS Code keeps them for the next window and gives them back through the serializer.
    this.#lost.dispose();
    for (const { host } of this.#open.values()) host.dispose();
    this.#open.clear();
  }
}

type Place = Parameters<typeof vscode.window.createWebviewPanel>[2];

function newPanel(name: PanelName, title: string, place: Place): vscode.WebviewPanel {
  const options = { enableFindWidget: false, retainContextWhenHidden: false };
  return vscode.window.createWebviewPanel(webviewIds[name], title, place, options);
}

function streamTitle(title: string, attempt: number | null): string {
  const line = title.replace(/\s+/g, ' ').trim();
  const short = line.length <= titleMax ? line : `${line.slice(0, titleMax - 1)}…`;
  return attempt === null ? short : `${short} (${attempt})`;
}
