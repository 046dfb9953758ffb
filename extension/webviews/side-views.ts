// The two views of the side bar, from the time VS Code first shows them.

import type * as vscode from 'vscode';
import { sideViews, type SideViewName } from '../ids.ts';
import { setContext } from '../notices/context-keys.ts';
import { noSubject } from './panel-subject.ts';
import { WebviewHost, type WebviewSurroundings } from './webview-host.ts';

export class SideViews {
  readonly #around: WebviewSurroundings;
  readonly #onVisible: () => void;
  readonly #shown = new Map<SideViewName, { view: vscode.WebviewView; host: WebviewHost }>();

  #repository: string | undefined = undefined;
  readonly #badges = new Map<SideViewName, vscode.ViewBadge>();
  readonly #waiting = new Map<SideViewName, readonly ((host: WebviewHost) => void)[]>();

  constructor(around: WebviewSurroundings, onVisible: () => void) {
    this.#around = around;
    this.#onVisible = onVisible;
  }

  get hosts(): readonly WebviewHost[] {
    return [...this.#shown.values()].map(({ host }) => host);
  }

  host(name: SideViewName): WebviewHost | null {
    return this.#shown.get(name)?.host ?? null;
  }

  /** The host of a view that VS Code was asked to show, which can take a moment. */
  async shown(name: SideViewName): Promise<WebviewHost> {
    const present = this.#shown.get(name)?.host;
    if (present !== undefined) return present;
    const { promise, resolve } = Promise.withResolvers<WebviewHost>();
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.set(name, [...waiting, resolve]);
    return await promise;
  }

  resolve(name: SideViewName, view: vscode.WebviewView): void {
    leave(name);
    const place = { isVisible: () => view.visible, isKept: false };
    const host = new WebviewHost(name, noSubject, view.webview, place, this.#around);
    this.#shown.set(name, { view, host });
    this.#showRepository(view);
    this.#showBadge(name);
    for (const tell of this.#waiting.get(name) ?? []) tell(host);
    this.#waiting.delete(name);
    view.onDidChangeVisibility(() => {
      if (view.visible) this.#onVisible();
      else leave(name);
    });
    view.onDidDispose(() => {
      host.dispose();
      leave(name);
      if (this.#shown.get(name)?.host === host) this.#shown.delete(name);
    });
  }

  /** A number on the view's icon; none for 0. */
  badge(name: SideViewName, value: number, tooltip: string): void {
    this.#badges.set(name, { value, tooltip });
    this.#showBadge(name);
  }

  /** The repository that the views show, if the window has several. */
  describe(repository: string | undefined): void {
    this.#repository = repository;
    for (const { view } of this.#shown.values()) this.#showRepository(view);
  }

  #showRepository(view: vscode.WebviewView): void {
    if (this.#repository !== undefined) view.description = this.#repository;
    else if (view.description !== undefined) delete view.description;
  }

  /** VS Code does not create a view before it is first shown, so its badge is stored until then. */
  #showBadge(name: SideViewName): void {
    const view = this.#shown.get(name)?.view;
    const badge = this.#badges.get(name);
    if (view === undefined || badge === undefined) return;
    if ((view.badge?.value ?? 0) !== badge.value)
      view.badge = badge.value === 0 ? undefined : badge;
  }

  dispose(): void {
    for (const name of sideViews) this.#shown.get(name)?.host.dispose();
    this.#shown.clear();
  }
}

/** A page that is removed, or existed before this extension host, does not report this itself. */
function leave(name: SideViewName): void {
  if (name === 'tree') setContext('drover.inTree', false);
}
