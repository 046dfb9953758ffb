// The looks of the board's bar, its notes and its Kanban columns, from VS Code's theme variables.

import { css } from 'lit';

export const boardStyles = css`
  :host {
    display: block;
    height: 100%;
  }
  .page {
    display: flex;
    flex-direction: column;
    height: 100%;
    overflow: hidden;
    color: var(--vscode-foreground);
    background: var(--vscode-editor-background);
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    align-items: center;
    padding: 4px 8px;
    border-bottom: 1px solid
      var(--vscode-editorGroup-border, var(--vscode-contrastBorder, transparent));
  }
  .bar select {
    max-width: 320px;
  }
  .bar label {
    display: inline-flex;
    gap: 4px;
    align-items: center;
  }
  .bar .end {
    margin-left: auto;
  }
  .past {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
    padding: 4px 8px;
    border-bottom: 1px solid
      var(--vscode-editorGroup-border, var(--vscode-contrastBorder, transparent));
  }
  .past input {
    flex: 1;
    min-width: 120px;
    accent-color: var(--vscode-focusBorder);
  }
  .past time {
    font-variant-numeric: tabular-nums;
  }
  .earlier {
    display: flex;
    flex: 1;
    flex-direction: column;
    min-height: 0;
  }
  drover-kanban,
  drover-graph {
    display: block;
    flex: 1;
    min-height: 0;
  }
  .note {
    display: flex;
    gap: 6px;
    align-items: center;
    padding: 4px 8px;
    overflow-wrap: anywhere;
    max-height: 6em;
    overflow-y: auto;
  }
  .note.error {
    color: var(--vscode-inputValidation-errorForeground, var(--vscode-foreground));
    background: var(--vscode-inputValidation-errorBackground);
    border: 1px solid var(--vscode-inputValidation-errorBorder, transparent);
  }
  .welcome {
    display: flex;
    flex-direction: column;
    gap: 10px;
    align-items: flex-start;
    padding: 12px 20px;
  }
  .welcome p {
    margin: 0;
  }
`;

export const kanbanStyles = css`
  .columns {
    display: flex;
    gap: 4px;
    height: 100%;
    padding: 4px;
    box-sizing: border-box;
    overflow-x: auto;
  }
`;
