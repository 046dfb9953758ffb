// The panels of the editor area: one for each attempt, one grid, one board; brought back after a reload.

import * as vscode from 'vscode';
import type { TaskView } from '../../server/protocol/views.ts';
import { webviewIds, type PanelName } from '../ids.ts';
import { subjectOf } from './html.ts';
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
  readonly #open = new Map<string, OpenPanel>();
  readonly #onActive: (host: WebviewHost) => void;
  readonly #onClosed: (host: WebviewHost) => void;

  constructor(
    around: WebviewSurroundings,
    onActive: (host: WebviewHost) => void,
    onClosed: (host: WebviewHost) => void,
  ) {
    this.#around = around;
    this.#onActive = onActive;
    this.#onClosed = onClosed;
  }

  get hosts(): readonly WebviewHost[] {
    return [...this.#open.values()].map(({ host }) => host);
  }

  show(name: PanelName, subject: Subject): void {
    const present = this.#open.get(subjectKey(name, subject));
    if (present !== undefined) return present.panel.reveal();
    const panel = vscode.window.createWebviewPanel(
      webviewIds[name],
      titles[name],
      { viewColumn: vscode.ViewColumn.Active, preserveFocus: false },
      { enableFindWidget: false, retainContextWhenHidden: false },
    );
    this.#adopt(name, subject, panel);
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
      if (panel.title !== title) panel.title = title;
      const { icon, color } = statusIcons[task.status];
      const theme = color === null ? undefined : new vscode.ThemeColor(color);
      const present = panel.iconPath;
      const isSame = present instanceof vscode.ThemeIcon && present.id === icon;
      if (!isSame) panel.iconPath = new vscode.ThemeIcon(icon, theme);
    }
  }

  #adopt(name: PanelName, subject: Subject, panel: vscode.WebviewPanel): void {
    this.#makeRoom();
    const key = subjectKey(name, subject);
    panel.iconPath = new vscode.ThemeIcon(icons[name]);
    const host = new WebviewHost(name, subject, panel.webview, () => panel.visible, this.#around);
    this.#open.set(key, { panel, host, key });
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
    for (const { host } of this.#open.values()) host.dispose();
    this.#open.clear();
  }
}

function streamTitle(title: string, attempt: number | null): string {
  const line = title.replace(/\s+/g, ' ').trim();
  const short = line.length <= titleMax ? line : `${line.slice(0, titleMax - 1)}…`;
  return attempt === null ? short : `${short} (${attempt})`;
}
