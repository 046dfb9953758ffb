// The styles of the page of a task: a document with its properties beside it, from VS Code's theme
// variables.

import { css } from 'lit';

export const taskStyles = css`
  :host {
    display: block;
    height: 100%;
    overflow-y: auto;
    container-type: inline-size;
  }
  .page {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(220px, 300px);
    gap: 8px 32px;
    max-width: 1100px;
    padding: 12px 16px 24px;
    box-sizing: border-box;
  }
  @container (max-width: 640px) {
    .page {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  section {
    margin-bottom: 16px;
  }
  h2 {
    display: flex;
    align-items: center;
    gap: 6px;
    min-height: 24px;
    margin: 0 0 4px;
    font-size: 100%;
    font-weight: 600;
  }
  h2 .count {
    font-weight: 400;
    color: var(--vscode-descriptionForeground);
  }
  .wide {
    grid-column: 1 / -1;
  }
  .banner {
    display: flex;
    gap: 6px;
    padding: 6px 10px;
    border-radius: 4px;
    color: var(--vscode-foreground);
    background: var(--vscode-textBlockQuote-background, transparent);
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
  }
  .banner.error {
    color: var(--vscode-inputValidation-errorForeground, var(--vscode-foreground));
    background: var(--vscode-inputValidation-errorBackground);
    border-color: var(--vscode-inputValidation-errorBorder);
  }
  vscode-textfield {
    width: 100%;
  }
  /* Read-only text must stay readable. */
  vscode-textfield[disabled] {
    opacity: 1;
  }
  .page {
    --drover-title-size: calc(1.3 * var(--vscode-font-size));
  }
  /* As high as its text, so that a long title is fully readable. */
  .name {
    display: block;
    field-sizing: content;
    box-sizing: border-box;
    margin-inline-start: -5px;
    width: calc(100% + 5px);
    padding: 2px 4px;
    border: 1px solid transparent;
    border-radius: 2px;
    resize: none;
    overflow: hidden;
    overflow-wrap: anywhere;
    font: 600 var(--drover-title-size) / 1.35 var(--vscode-font-family);
    color: var(--vscode-foreground);
    background: transparent;
  }
  .name:hover:not(:disabled) {
    border-color: var(
      --vscode-input-border,
      var(--vscode-contrastBorder, var(--vscode-widget-border, transparent))
    );
  }
  .name:focus {
    outline: 1px solid var(--vscode-focusBorder);
    outline-offset: -1px;
    background: var(--vscode-settings-textInputBackground, transparent);
  }
  .text {
    overflow-wrap: anywhere;
    line-height: 1.5;
  }
  .text > :first-child {
    margin-top: 0;
  }
  .row {
    display: flex;
    align-items: center;
    gap: 6px;
    min-height: 26px;
  }
  .row > .icon {
    flex: none;
  }
  .row .grow {
    flex: 1;
    min-width: 0;
  }
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin-top: 6px;
  }
  .empty {
    color: var(--vscode-descriptionForeground);
  }
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .chips {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 6px;
  }
  .chip .link {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    color: var(--vscode-foreground);
    min-height: 22px;
  }
  dl {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 6px 12px;
    align-items: center;
    margin: 0;
  }
  dt {
    color: var(--vscode-descriptionForeground);
  }
  dd {
    margin: 0;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  dd > select {
    width: 100%;
  }
  .times {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 2px 12px;
    overflow-wrap: anywhere;
  }
  .times time {
    color: var(--vscode-descriptionForeground);
    font-variant-numeric: tabular-nums;
  }
  summary {
    cursor: pointer;
    font-weight: 600;
    min-height: 24px;
  }
  code,
  pre {
    font-family: var(--vscode-editor-font-family);
  }
`;
