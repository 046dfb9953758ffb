// The styles of the Kanban columns and their cards, from VS Code's theme variables.

import { css } from 'lit';

export const cardHeightPx = 110;

export const columnStyles = css`
  :host {
    display: block;
    /* All columns fit beside the side bar in a window 1,000 px wide. */
    flex: 1 1 176px;
    min-width: 96px;
    min-height: 0;
  }
  :host([data-empty]) {
    flex: 0 0 auto;
    min-width: 0;
  }
  section {
    display: flex;
    flex-direction: column;
    height: 100%;
  }
  h2 {
    display: flex;
    gap: 6px;
    align-items: center;
    margin: 0;
    padding: 0 8px;
    height: 28px;
    font-size: 11px;
    font-weight: 700;
    text-transform: uppercase;
    color: var(--vscode-sideBarSectionHeader-foreground, var(--vscode-foreground));
  }
  h2 span:first-child {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .cards {
    flex: 1;
    min-height: 0;
    overflow-x: hidden;
    overflow-y: auto;
    outline: none;
    border: 1px solid transparent;
  }
  .cards:focus-visible {
    border-color: var(--vscode-focusBorder);
  }
  .space {
    position: relative;
    min-height: 100%;
  }
  .card {
    position: absolute;
    top: 0;
    left: 4px;
    right: 4px;
    height: 104px;
    box-sizing: border-box;
    padding: 6px 8px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
    border-radius: 4px;
    color: var(--vscode-editorWidget-foreground, var(--vscode-foreground));
    background: var(--vscode-editorWidget-background);
    cursor: pointer;
    user-select: none;
  }
  .card:hover {
    border-color: var(--vscode-focusBorder);
  }
  .card.alarm {
    border-left: 4px solid var(--vscode-editorWarning-foreground, var(--vscode-foreground));
    padding-left: 5px;
  }
  .card.active {
    outline: 1px solid var(--vscode-list-inactiveFocusOutline, transparent);
    outline-offset: -1px;
  }
  .cards:focus .card.active {
    outline: 2px solid var(--vscode-focusBorder);
    outline-offset: -2px;
  }
  .line {
    display: flex;
    gap: 6px;
    align-items: center;
    height: 20px;
  }
  .card .line {
    align-items: start;
    height: 38px;
    line-height: 19px;
  }
  .title {
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    overflow: hidden;
    overflow-wrap: anywhere;
    font-weight: 600;
  }
  .quiet {
    height: 17px;
    line-height: 17px;
    font-size: 0.92em;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    font-variant-numeric: tabular-nums;
  }
`;
