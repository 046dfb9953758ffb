// The styles of the page of a plan.

import { css } from 'lit';

export const planStyles = css`
  :host {
    display: block;
    height: 100%;
    overflow-y: auto;
  }
  .page {
    max-width: 900px;
    padding: 0 16px 24px;
  }
  header {
    position: sticky;
    top: 0;
    z-index: 1;
    padding: 12px 0 8px;
    background: var(--vscode-editor-background);
    border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
  }
  h1 {
    margin: 0 0 2px;
    font-size: 1.3em;
    font-weight: 600;
  }
  header p {
    margin: 0 0 8px;
    color: var(--vscode-descriptionForeground);
  }
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
  }
  .note {
    margin-top: 8px;
  }
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .epic {
    margin-top: 14px;
  }
  .row {
    display: flex;
    align-items: center;
    gap: 8px;
    min-height: 28px;
  }
  .row .grow {
    flex: 1;
    min-width: 0;
  }
  .epic > .row vscode-textfield {
    --vscode-font-weight: 600;
  }
  .epic > .row > .title {
    padding-inline-start: 5px;
    font-weight: 600;
  }
  .task {
    margin-inline-start: 26px;
    padding: 4px 0 6px;
    border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
  }
  .task.out vscode-textfield:not(:focus-within),
  .chip.out > bdi {
    text-decoration: line-through;
  }
  .below {
    margin-inline-start: 26px;
  }
  .waits {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 6px;
    padding-inline-start: 5px;
    color: var(--vscode-descriptionForeground);
  }
  .chip {
    color: var(--vscode-foreground);
  }
  .chip > bdi {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    min-height: 22px;
    line-height: 22px;
  }
  .priority {
    flex: none;
    color: var(--vscode-descriptionForeground);
  }
  details {
    padding-inline-start: 5px;
  }
  summary {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    min-height: 22px;
    line-height: 22px;
    cursor: pointer;
    color: var(--vscode-descriptionForeground);
  }
  summary:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
    outline-offset: -1px;
  }
  h2 {
    margin: 8px 0 2px;
    font-size: 100%;
    font-weight: 600;
  }
  drover-description-field {
    --drover-field-height: 6em;
  }
  vscode-textfield {
    width: 100%;
  }
  input[type='checkbox'] {
    appearance: none;
    flex: none;
    display: inline-grid;
    place-content: center;
    width: 18px;
    height: 18px;
    margin: 0;
    color: var(--vscode-checkbox-foreground, var(--vscode-foreground));
    background: var(--vscode-checkbox-background);
    border: 1px solid var(--vscode-checkbox-border, var(--vscode-contrastBorder, currentColor));
    border-radius: 3px;
    cursor: pointer;
  }
  input[type='checkbox']:checked::before,
  input[type='checkbox']:indeterminate::before {
    font: normal normal normal 16px/1 codicon;
    content: '\\eab2';
  }
  input[type='checkbox']:indeterminate::before {
    content: '\\eacc';
  }
`;
