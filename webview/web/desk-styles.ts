// The layout of the page: side views and a main view, or one view at a time on a phone.

import { css } from 'lit';

export const deskStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100dvh;
  }
  nav {
    display: flex;
    gap: 4px;
    padding: 4px 8px;
    border-bottom: 1px solid var(--vscode-panel-border);
    background: var(--vscode-sideBar-background);
    flex: none;
  }
  nav a {
    color: var(--vscode-foreground);
    text-decoration: none;
    padding: 6px 12px;
    border-radius: 4px;
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  nav a:hover {
    background: var(--vscode-list-hoverBackground);
  }
  nav a[aria-current='page'] {
    background: var(--vscode-list-activeSelectionBackground);
    color: var(--vscode-list-activeSelectionForeground);
  }
  :focus-visible {
    outline: 2px solid var(--vscode-focusBorder);
    outline-offset: -2px;
  }
  select,
  button {
    font: inherit;
    min-height: 28px;
    padding: 2px 10px;
    border: 1px solid var(--vscode-panel-border);
    border-radius: 4px;
    background: var(--vscode-button-secondaryBackground);
    color: var(--vscode-button-secondaryForeground);
  }
  .count {
    background: var(--vscode-badge-background);
    color: var(--vscode-badge-foreground);
    border-radius: 10px;
    padding: 0 6px;
    font-size: 0.85em;
  }
  .views {
    flex: 1;
    min-height: 0;
    display: grid;
    grid-template: 3fr 2fr / minmax(280px, 26%) 1fr;
  }
  .view {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .view.tree {
    grid-area: 1 / 1;
    background: var(--vscode-sideBar-background);
    border-inline-end: 1px solid var(--vscode-panel-border);
  }
  .view.inbox {
    grid-area: 2 / 1;
    background: var(--vscode-sideBar-background);
    border-inline-end: 1px solid var(--vscode-panel-border);
    border-block-start: 1px solid var(--vscode-panel-border);
  }
  .view.main {
    grid-area: 1 / 2 / 3 / 3;
  }
  .view.main:not(.shown) {
    display: none;
  }
  iframe {
    border: 0;
    flex: 1;
    width: 100%;
    min-height: 0;
  }
  .bar {
    display: flex;
    gap: 4px;
    padding: 4px 8px;
    flex-wrap: wrap;
  }
  .lost,
  .wall {
    position: fixed;
    inset-inline: 0;
    text-align: center;
    z-index: 5;
  }
  .lost {
    inset-block-start: 0;
    padding: 4px;
    background: var(--vscode-editorWidget-background);
    color: var(--vscode-foreground);
    border-bottom: 1px solid var(--vscode-panel-border);
  }
  .wall {
    inset-block: 0;
    display: grid;
    place-content: center;
    padding: 24px;
    background: var(--vscode-editor-background);
  }
  .text {
    position: fixed;
    inset: 0;
    z-index: 6;
    display: flex;
    flex-direction: column;
    background: var(--vscode-editor-background);
  }
  .text header {
    display: flex;
    align-items: center;
    gap: 12px;
    padding: 8px 12px;
  }
  .text h1 {
    font-size: 1.1em;
    margin: 0;
    flex: 1;
    overflow-wrap: anywhere;
  }
  .text pre {
    flex: 1;
    overflow: auto;
    margin: 0;
    padding: 0 12px 12px;
    font: 12px/1.5 var(--vscode-editor-font-family);
  }
  @media (min-width: 601px) {
    nav a.inbox,
    nav a.tree {
      display: none;
    }
  }
  @media (max-width: 600px) {
    :host {
      flex-direction: column-reverse;
    }
    nav {
      border-bottom: 0;
      border-top: 1px solid var(--vscode-panel-border);
      padding-bottom: max(4px, env(safe-area-inset-bottom));
      overflow-x: auto;
      justify-content: space-between;
    }
    nav a {
      padding: 6px 8px;
      min-height: 44px;
      box-sizing: border-box;
    }
    button,
    select {
      min-height: 44px;
    }
    .views {
      grid-template: 1fr / 1fr;
    }
    .view,
    .view.tree,
    .view.inbox,
    .view.main {
      grid-area: 1 / 1;
      border: 0;
    }
    .view:not(.shown) {
      display: none;
    }
  }
`;
