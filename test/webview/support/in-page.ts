// The code that runs in the page before the webview's own script: VS Code's styles and API, and a
// report of everything that the content security policy refuses. Each function is sent as text and
// must not use anything outside of itself.

import type { ThemeFixture } from './themes.ts';

export interface PageBeginning {
  /**
   * Sent with each of the page's messages, because the last ones of the test before may arrive
   * late.
   */
  readonly visit: number;
  /** It has nothing of the test before: VS Code's storage of a page ends with it. */
  readonly isFresh: boolean;
  readonly theme: ThemeFixture;
  readonly memory: unknown;
  readonly reduceMotion: boolean;
}

interface TestWindow {
  droverTestReceive(visit: number, message: unknown): void;
  droverTestViolation(visit: number, text: string): void;
  droverTestMemory(visit: number, state: unknown): void;
  droverTestKey(visit: number, pressed: unknown): void;
  acquireVsCodeApi(): unknown;
}

export function beginPage({ visit, isFresh, theme, memory, reduceMotion }: PageBeginning): void {
  const view = window as unknown as Window & TestWindow;
  if (isFresh) sessionStorage.clear();
  view.addEventListener('securitypolicyviolation', (event) => {
    const place = `${event.sourceFile}:${event.lineNumber}`;
    view.droverTestViolation(
      visit,
      `${event.effectiveDirective} refused ${event.blockedURI} ${event.sample} ${place}`,
    );
  });

  const dress = (): void => {
    const root = document.documentElement;
    for (const [name, value] of Object.entries(theme.variables)) {
      root.style.setProperty(name, value);
    }
    const { body } = document;
    body.className = theme.bodyClass;
    body.classList.toggle('vscode-reduce-motion', reduceMotion);
    for (const [name, value] of Object.entries(theme.bodyData)) body.dataset[name] = value;
    // If the webview is in the workbench, the background is the editor's or the side bar's.
    root.style.setProperty('background-color', 'var(--vscode-editor-background)');
  };
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(theme.defaultStyles);
  const observer = new MutationObserver(() => {
    if (document.body === null) return;
    observer.disconnect();
    document.adoptedStyleSheets.push(sheet);
    dress();
  });
  observer.observe(document, { childList: true, subtree: true });

  // VS Code's own listener, which a field keeps its keys from.
  view.addEventListener('keydown', (event) => {
    const { key, code, ctrlKey, metaKey, altKey, shiftKey, isTrusted } = event;
    if (isTrusted) view.droverTestKey(visit, { key, code, ctrlKey, metaKey, altKey, shiftKey });
  });

  let state: unknown = memory ?? undefined;
  let isAcquired = false;
  view.acquireVsCodeApi = () => {
    if (isAcquired) throw new Error('An instance of the VS Code API has already been acquired');
    isAcquired = true;
    return Object.freeze({
      postMessage: (message: unknown) => view.droverTestReceive(visit, message),
      getState: () => state,
      setState: (next: unknown) => {
        state = next;
        view.droverTestMemory(visit, next);
        return next;
      },
    });
  };
}

/** How VS Code hands a message to a webview. As text, which is the quickest way into the page for a large board. */
export function deliver(messageJson: string): void {
  const data = JSON.parse(messageJson, (key, value: unknown) => {
    return (key === 'board' || key === 'packed') && typeof value === 'string'
      ? Uint8Array.from(atob(value), (character) => character.codePointAt(0) ?? 0)
      : value;
  }) as unknown;
  window.dispatchEvent(new MessageEvent('message', { data }));
}
