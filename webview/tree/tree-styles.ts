// The styles of the task tree: VS Code's own list, from its theme variables.

import { css, unsafeCSS } from 'lit';

/** As in VS Code's own lists; a finger needs more. */
export const rowHeightPx = globalThis.matchMedia?.('(pointer: coarse)').matches ? 40 : 22;

export const treeStyles = css`
  .bar {
    display: flex;
    gap: 4px;
    padding: 4px 8px;
  }
  .bar vscode-textfield {
    flex: 1;
  }
  .bar select {
    min-width: 0;
  }
  .rows {
    flex: 1;
    min-height: 0;
    overflow-y: auto;
    overflow-x: hidden;
  }
  .rows:focus,
  .rows:focus-visible {
    outline: none;
  }
  .space {
    position: relative;
    min-height: 100%;
  }
  .row {
    position: absolute;
    top: 0;
    left: 0;
    right: 0;
    height: ${unsafeCSS(rowHeightPx)}px;
    display: flex;
    align-items: center;
    gap: 4px;
    padding-right: 8px;
    box-sizing: border-box;
    white-space: nowrap;
    cursor: pointer;
    user-select: none;
  }
  .row:hover {
    background: var(--vscode-list-hoverBackground);
    color: var(--vscode-list-hoverForeground, inherit);
  }
  .row.selected {
    background: var(--vscode-list-inactiveSelectionBackground);
    color: var(--vscode-list-inactiveSelectionForeground, inherit);
  }
  .rows:focus .row.selected {
    background: var(--vscode-list-activeSelectionBackground);
    color: var(--vscode-list-activeSelectionForeground);
  }
  .rows:focus .row.selected .icon,
  .row.selected .facts {
    color: inherit;
  }
  .rows:focus .row.active,
  .rows:focus-visible .row.active {
    outline: 1px solid var(--vscode-list-focusOutline, var(--vscode-focusBorder));
    outline-offset: -1px;
  }
  .row.selected {
    outline-offset: -1px;
  }
  .title {
    overflow: hidden;
    text-overflow: ellipsis;
    flex: 0 1 auto;
    min-width: 3em;
  }
  .epic .title {
    font-weight: 600;
  }
  .done .title {
    color: var(--vscode-descriptionForeground);
  }
  .row.selected .title {
    color: inherit;
  }
  /*
   * A fact that does not fit wraps onto a line that is cut off, so facts are shown completely or
   * not at all.
   */
  .facts {
    display: flex;
    flex-wrap: wrap;
    justify-content: flex-end;
    height: 22px;
    line-height: 22px;
    padding-left: 4px;
    overflow: hidden;
    flex: 1 1 0;
    color: var(--vscode-descriptionForeground);
    font-variant-numeric: tabular-nums;
  }
  .waits {
    flex: 1 1 0;
    min-width: 0;
    overflow: hidden;
    color: var(--vscode-descriptionForeground);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .row.selected .waits {
    color: inherit;
  }
  .facts > span {
    white-space: pre;
  }
  .facts > .edge {
    height: 22px;
  }
  .facts.count,
  .where,
  .needs {
    flex: none;
  }
  .needs::after {
    content: attr(data-count);
  }
  .needs {
    display: flex;
    align-items: center;
    gap: 2px;
  }
  .twisty {
    flex: none;
    width: 16px;
  }
  .progress {
    flex: none;
    width: 42px;
    height: 4px;
    color: inherit;
    border: 1px solid var(--vscode-contrastBorder, transparent);
    background: color-mix(in srgb, currentColor 25%, transparent);
  }
  .progress > span {
    display: block;
    height: 100%;
    background: var(--vscode-charts-blue, var(--vscode-progressBar-background));
  }
  .rows:focus .row.selected .progress > span {
    background: currentColor;
  }
  .row button {
    flex: none;
    width: 20px;
    height: 20px;
    padding: 0;
    border-radius: 4px;
    visibility: hidden;
  }
  .row:hover button,
  .row.active button,
  .row.selected button {
    visibility: visible;
  }
  @media (hover: none) {
    .row button {
      width: 40px;
      height: 40px;
      visibility: visible;
    }
  }
  .row button:hover {
    background: var(--vscode-toolbar-hoverBackground);
  }
  .row input {
    flex: 1;
    min-width: 0;
    box-sizing: border-box;
    height: 22px;
    padding: 0 4px;
    font: inherit;
    color: var(--vscode-input-foreground);
    background: var(--vscode-input-background);
    border: 1px solid var(--vscode-input-border, var(--vscode-contrastBorder, transparent));
  }
  .row.drop-into {
    background: var(--vscode-list-dropBackground);
    outline: 1px dashed var(--vscode-contrastActiveBorder, transparent);
    outline-offset: -1px;
  }
  .row.drop-before::before,
  .row.drop-after::after {
    content: '';
    position: absolute;
    left: 8px;
    right: 0;
    height: 2px;
    background: var(--vscode-list-dropBetweenBackground, var(--vscode-focusBorder));
  }
  .row.drop-before::before {
    top: -1px;
  }
  .row.drop-after::after {
    bottom: -1px;
  }
  .row.drop-refused {
    cursor: not-allowed;
    outline: 1px solid var(--vscode-inputValidation-errorBorder, var(--vscode-errorForeground));
    outline-offset: -1px;
  }
  .note {
    border-top: 1px solid
      var(--vscode-sideBarSectionHeader-border, var(--vscode-contrastBorder, transparent));
  }
`;
