// The styles of the board's bar, its messages and its Kanban columns, from VS Code's theme
// variables.

import { css } from 'lit';

export const boardStyles = css`
  .page {
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
  .welcome {
    align-items: flex-start;
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
