// The styles of the history of runs.

import { css } from 'lit';

export const runListStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    gap: 4px;
    min-height: 0;
  }
  vscode-textfield {
    width: 100%;
  }
  .rows {
    position: relative;
    flex: 1;
    min-height: 0;
    overflow-y: auto;
  }
  .room {
    width: 1px;
  }
  .row {
    position: absolute;
    top: 0;
    left: 0;
    right: 0;
    box-sizing: border-box;
    height: 56px;
    display: flex;
    gap: 6px;
    padding: 4px 6px;
    cursor: pointer;
    border-radius: 3px;
  }
  .row:hover {
    background: var(--vscode-list-hoverBackground);
    color: var(--vscode-list-hoverForeground, inherit);
    outline: 1px dashed var(--vscode-contrastActiveBorder, transparent);
    outline-offset: -1px;
  }
  .row[aria-selected='true'] {
    background: var(--vscode-list-inactiveSelectionBackground);
    color: var(--vscode-list-inactiveSelectionForeground, inherit);
    outline: 1px solid var(--vscode-contrastActiveBorder, transparent);
    outline-offset: -1px;
  }
  .rows:focus-visible .row[aria-selected='true'] {
    background: var(--vscode-list-activeSelectionBackground);
    color: var(--vscode-list-activeSelectionForeground, inherit);
  }
  .rows:focus-visible .row[aria-selected='true'] .lines > span,
  .rows:focus-visible .row[aria-selected='true'] .icon {
    color: inherit;
  }
  .lines {
    display: flex;
    flex-direction: column;
    flex: 1;
    min-width: 0;
    line-height: 16px;
  }
  .lines > * {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .lines b {
    font-weight: 600;
  }
  .lines > span {
    font-size: 0.92em;
    color: var(--vscode-descriptionForeground);
  }
  .row[aria-selected='true'] .lines > span {
    color: inherit;
  }
  .note {
    color: var(--vscode-descriptionForeground);
  }
  .note:empty {
    display: none;
  }
`;
