// The panels of the editor area: one for each attempt, one grid, one board. They are restored after
// a reload.

import * as vscode from 'vscode';
import type { TaskView } from '../../server/protocol/views.ts';
import { webviewIds, type PanelName } from '../ids.ts';
import { parseSubject } from './html.ts';
import type { HostRestart } from './host-restart.ts';
import { LostPanels } from './lost-panels.ts';
import type { PanelMemory } from './panel-memory.ts';
import { statusIcons } from './status-icon.ts';
import { readSubject, subjectKey, type Subject } from './panel-subject.ts';
import { WebviewHost, webviewOptions, type WebviewSurroundings } from './webview-host.ts';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  /** Another subject, with its key, if a single click reuses the panel. */
  host: WebviewHost;
  key: string;
}

/** More panels than a person uses; the least recently viewed one is closed. */
const panelsMax = 64;
const titleMax = 40;
/**
 * VS Code shows tabs of its own previews in italics, but an extension's panel has only its title.
 */
const previewMark = ' (preview)';

const titles: { readonly [N in PanelName]: string } = {
  stream: 'Stream',
  grid: 'Agents',
  board: 'Board',
  run: 'Runs',
  plan: 'Plan',
  worktrees: 'Worktrees',
  rules: 'Pull Request Rules',
};
const icons: { readonly [N in PanelName]: string } = {
  stream: 'output',
  grid: 'layout',
  board: 'project',
  run: 'history',
  plan: 'checklist',
  worktrees: 'server-environment',
  rules: 'law',
};

export interface PanelsParts {
  readonly around: WebviewSurroundings;
  readonly memory: PanelMemory;
  /** Whether the previous extension host ended or died, if known. */
  readonly restart: HostRestart;
  readonly task: (root: string, id: string) => TaskView | null;
  readonly onActive: (host: WebviewHost) => void;
  readonly onClosed: (host: WebviewHost) => void;
}

export class Panels implements vscode.Disposable {
  readonly #parts: PanelsParts;
  readonly #lost: LostPanels;
  readonly #open = new Map<string, OpenPanel>();
  /** Panels whose task was on a board. */
  readonly #wasSeen = new WeakSet<OpenPanel>();
  /** The page that the next single click reuses. */
  #preview: OpenPanel | null = null;
  /** Panels that replaced a tab without an owner. */
  readonly #reopened = new WeakSet<OpenPanel>();

  constructor(parts: PanelsParts) {
    this.#parts = parts;
    this.#lost = new LostPanels({
      held: (name, column) => this.#titles(name, column),
      reopen: (name, tab) => this.#reopen(name, tab),
      restart: parts.restart,
    });
  }

  get hosts(): readonly WebviewHost[] {
    return [...this.#open.values()].map(({ host }) => host);
  }

  show(name: PanelName, subject: Subject): WebviewHost {
    const present = this.#open.get(subjectKey(name, subject));
    if (present !== undefined) {
      if (this.#keep(present)) this.#parts.onActive(present.host);
      present.panel.reveal();
      return present.host;
    }
    const unshown = this.#unshown(name, subject);
    const place = { viewColumn: vscode.ViewColumn.Active, preserveFocus: false };
    const panel = this.#newPanel(name, this.#titleOf(name, subject), place);
    const { host } = this.#adopt(name, subject, panel);
    if (unshown !== null) void vscode.window.tabGroups.close(unshown, true);
    return host;
  }

  /** Shows the page of a task without moving the focus, in the panel of the last single click. */
  preview(subject: Subject): void {
    const present = this.#open.get(subjectKey('stream', subject));
    if (present !== undefined) return present.panel.reveal(undefined, true);
    const unshown = this.#unshown('stream', subject);
    if (this.#preview === null) {
      const place = { viewColumn: vscode.ViewColumn.Active, preserveFocus: true };
      const title = this.#titleOf('stream', subject, true);
      this.#adopt('stream', subject, this.#newPanel('stream', title, place, true), true);
    } else this.#reuse(this.#preview, subject);
    if (unshown !== null) void vscode.window.tabGroups.close(unshown, true);
  }

  #reuse(open: OpenPanel, subject: Subject): void {
    this.#open.delete(open.key);
    this.#wasSeen.delete(open);
    if (!open.host.reuse(subject)) {
      open.host.dispose();
      this.#parts.onClosed(open.host);
      open.host = this.#hostOf('stream', subject, open.panel);
    }
    open.key = subjectKey('stream', subject);
    this.#enter(open);
    open.panel.reveal(undefined, true);
  }

  isPreview(host: WebviewHost): boolean {
    return this.#preview?.host === host;
  }

  /** The next click does not replace a panel in which a person works. */
  keep(host: WebviewHost): void {
    if (this.#preview?.host === host) this.#keep(this.#preview);
  }

  /** Returns false if it was not a preview. */
  #keep(open: OpenPanel): boolean {
    if (this.#preview !== open) return false;
    this.#preview = null;
    this.#dress(open, this.#taskOf(open.host.subject));
    return true;
  }

  #taskOf({ root, id }: Subject): TaskView | null {
    return root === null || id === null ? null : this.#parts.task(root, id);
  }

  restore(name: PanelName, panel: vscode.WebviewPanel, state: unknown): void {
    const subject = readSubject(parseSubject(state));
    const present = this.#open.get(subjectKey(name, subject));
    if (name === 'stream' && subject.id === null) return panel.dispose();
    // VS Code was only slow: its own panel stays, and its replacement is removed.
    if (present !== undefined && this.#reopened.has(present)) present.panel.dispose();
    else if (present !== undefined) return panel.dispose();
    this.#adopt(name, subject, panel);
  }

  close(host: WebviewHost): void {
    [...this.#open.values()].find((open) => open.host === host)?.panel.dispose();
  }

  /** Titles and icons follow the board. */
  refreshTitles(root: string, taskOf: (id: string) => TaskView | null): void {
    for (const open of this.#open.values()) {
      const { subject } = open.host;
      if (subject.root !== root || subject.id === null) continue;
      const task = taskOf(subject.id);
      // The task was removed from the plan, so nothing is left to show. A task that was never seen
      // may still appear.
      if (task === null && this.#wasSeen.has(open)) open.panel.dispose();
      else this.#dress(open, task);
    }
  }

  #dress(open: OpenPanel, task: TaskView | null): void {
    const { panel, host } = open;
    if (host.name !== 'stream' || task === null) return;
    this.#wasSeen.add(open);
    const title = pageTitle(task, host.subject, this.#preview === open);
    if (panel.title !== title) {
      panel.title = title;
      this.#parts.memory.remember('stream', title, host.subject);
    }
    const { icon, color } = statusIcons[task.status];
    const theme = color === null ? undefined : new vscode.ThemeColor(color);
    const present = panel.iconPath;
    const isSame = present instanceof vscode.ThemeIcon && present.id === icon;
    if (!isSame) panel.iconPath = new vscode.ThemeIcon(icon, theme);
  }

  #titles(name: PanelName, column: vscode.ViewColumn): readonly string[] {
    return [...this.#open.values()]
      .filter(({ panel, host }) => host.name === name && panel.viewColumn === column)
      .map(({ panel }) => panel.title);
  }

  /**
   * A tab from before a reload that VS Code has not restored yet, because it was not opened since.
   */
  #unshown(name: PanelName, subject: Subject): vscode.Tab | null {
    const title = this.#parts.memory.titleOf(name, subject);
    return title === null ? null : (this.#lost.unheld(name, title)[0] ?? null);
  }

  #reopen(name: PanelName, tab: vscode.Tab): boolean {
    const subjects = this.#parts.memory.subjectsOf(name, tab.label);
    const subject = subjects.find((each) => !this.#open.has(subjectKey(name, each)));
    if (subject === undefined) return subjects.length > 0;
    const place = { viewColumn: tab.group.viewColumn, preserveFocus: !tab.group.isActive };
    this.#reopened.add(this.#adopt(name, subject, this.#newPanel(name, tab.label, place)));
    return true;
  }

  #adopt(
    name: PanelName,
    subject: Subject,
    panel: vscode.WebviewPanel,
    isPreview = false,
  ): OpenPanel {
    this.#makeRoom();
    const { onActive, onClosed } = this.#parts;
    const host = this.#hostOf(name, subject, panel);
    const open = { panel, host, key: subjectKey(name, subject) };
    if (isPreview) this.#preview = open;
    this.#enter(open);
    panel.onDidDispose(() => {
      open.host.dispose();
      if (this.#open.get(open.key) === open) this.#open.delete(open.key);
      if (this.#preview === open) this.#preview = null;
      onClosed(open.host);
    });
    // The panel of a single click is in front while the clicked row still has the focus.
    const onState = (): void => {
      if (panel.visible) open.host.shown();
      else open.host.hidden();
      if (panel.active && this.#preview !== open) onActive(open.host);
    };
    panel.onDidChangeViewState(onState);
    onState();
    return open;
  }

  #enter(open: OpenPanel): void {
    const { host, panel, key } = open;
    this.#open.set(key, open);
    const task = this.#taskOf(host.subject);
    if (task === null || host.name !== 'stream')
      panel.iconPath = new vscode.ThemeIcon(icons[host.name as PanelName]);
    this.#dress(open, task);
    this.#parts.memory.remember(host.name as PanelName, panel.title, host.subject);
  }

  #hostOf(name: PanelName, subject: Subject, panel: vscode.WebviewPanel): WebviewHost {
    const isKept = panel.options.retainContextWhenHidden === true;
    const place = { isVisible: () => panel.visible, isKept };
    return new WebviewHost(name, subject, panel.webview, place, this.#parts.around);
  }

  /** Set from the start if possible, because VS Code redraws its tabs for each change. */
  #titleOf(name: PanelName, subject: Subject, isPreview = false): string {
    const task = name === 'stream' ? this.#taskOf(subject) : null;
    return task === null ? titles[name] : pageTitle(task, subject, isPreview);
  }

  #newPanel(name: PanelName, title: string, place: Place, isPreview = false): vscode.WebviewPanel {
    const { extensionUri } = this.#parts.around;
    return vscode.window.createWebviewPanel(webviewIds[name], title, place, {
      enableFindWidget: false,
      // The page for single clicks stays loaded behind other tabs, so that the next click is fast.
      retainContextWhenHidden: isPreview,
      ...webviewOptions(extensionUri),
    });
  }

  #makeRoom(): void {
    if (this.#open.size < panelsMax) return;
    const oldest = [...this.#open.values()].find(({ panel }) => !panel.visible);
    oldest?.panel.dispose();
  }

  dispose(): void {
    // The panels stay: VS Code keeps them for the next window and restores them through the
    // serializer.
    this.#lost.dispose();
    for (const { host } of this.#open.values()) host.dispose();
    this.#open.clear();
  }
}

type Place = Parameters<typeof vscode.window.createWebviewPanel>[2];

function pageTitle(task: TaskView, { attempt }: Subject, isPreview: boolean): string {
  return `${streamTitle(task.title, attempt)}${isPreview ? previewMark : ''}`;
}

function streamTitle(title: string, attempt: number | null): string {
  const line = title.replace(/\s+/g, ' ').trim();
  const short = line.length <= titleMax ? line : `${line.slice(0, titleMax - 1)}…`;
  return attempt === null || attempt === 1 ? short : `${short} (${attempt})`;
}
