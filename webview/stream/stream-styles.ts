// The stream panel's own layout.

import { css } from 'lit';

export const streamStyles = css`
  :host {
    display: block;
    height: 100%;
    background: var(--vscode-editor-background);
  }
  main {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  drover-stream-header,
  drover-composer,
  .waiting {
    flex: none;
  }
  .tabs {
    display: flex;
    flex: none;
    gap: 16px;
    padding: 0 16px;
    border-bottom: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder, transparent));
  }
  .tabs button {
    padding: 5px 0 4px;
    border: 0;
    border-bottom: 1px solid transparent;
    color: var(--vscode-panelTitle-inactiveForeground, var(--vscode-descriptionForeground));
  }
  .tabs button[aria-selected='true'] {
    color: var(--vscode-panelTitle-activeForeground, var(--vscode-foreground));
    border-bottom-color: var(--vscode-panelTitle-activeBorder, currentColor);
  }
  drover-task {
    flex: 1;
    min-height: 0;
  }
  .body {
    display: flex;
    flex-direction: column;
    position: relative;
    flex: 1;
    min-height: 0;
  }
  drover-transcript {
    flex: 1;
    min-height: 0;
  }
  .to-end {
    position: absolute;
    bottom: 10px;
    inset-inline-end: 24px;
    z-index: 1;
    box-shadow: 0 0 8px 2px var(--vscode-widget-shadow);
  }
  .older {
    position: absolute;
    top: 0;
    inset-inline: 0;
    z-index: 1;
    text-align: center;
    color: var(--vscode-descriptionForeground);
    background: var(--vscode-editor-background);
  }
  .note,
  .empty {
    position: absolute;
    inset-inline: 0;
    top: 16px;
    padding: 0 16px;
    text-align: center;
    color: var(--vscode-descriptionForeground);
  }
  /* Beside the rows, at the lower edge, so that it does not cover text. */
  .note.below {
    position: static;
    flex: none;
    padding: 4px 16px;
    text-align: start;
  }
  .note:not(:empty) {
    background: var(--vscode-editor-background);
  }
  .waiting {
    max-height: 30vh;
    overflow: auto;
    padding: 6px 16px;
    border-top: 1px solid var(--vscode-editorWarning-foreground);
    color: var(--vscode-editorWidget-foreground);
    background: var(--vscode-editorWidget-background);
  }
  .queued {
    display: flex;
    flex: none;
    gap: 6px;
    align-items: center;
    padding: 2px 16px;
    color: var(--vscode-descriptionForeground);
    overflow-wrap: anywhere;
  }
  .empty {
    display: flex;
    flex-direction: column;
    align-items: center;
    gap: 8px;
  }
  .words {
    display: flex;
    align-items: center;
    gap: 6px;
    overflow-wrap: anywhere;
  }
  .words > span:not(.icon) {
    flex: 1;
    min-width: 0;
  }
`;
