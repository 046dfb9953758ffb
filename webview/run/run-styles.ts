// The styles of the page of a run.

import { css } from 'lit';

export const runStyles = css`
  :host {
    display: block;
    height: 100%;
    container-type: inline-size;
  }
  .page {
    display: flex;
    height: 100%;
    color: var(--vscode-foreground);
    background: var(--vscode-editor-background);
  }
  drover-run-list {
    flex: 0 0 250px;
    padding: 8px;
    border-right: 1px solid
      var(--vscode-editorGroup-border, var(--vscode-contrastBorder, transparent));
  }
  .report {
    flex: 1;
    min-width: 0;
    overflow-y: auto;
    padding: 12px 20px 40px;
  }
  @container (max-width: 700px) {
    .page {
      flex-direction: column;
    }
    drover-run-list {
      flex: 0 0 160px;
      border-right: none;
      border-bottom: 1px solid
        var(--vscode-editorGroup-border, var(--vscode-contrastBorder, transparent));
    }
  }
  h1 {
    margin: 0 0 2px;
    font-size: 1.4em;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  h2 {
    margin: 24px 0 6px;
    font-size: 1.1em;
    font-weight: 600;
  }
  p {
    margin: 0 0 8px;
    color: var(--vscode-descriptionForeground);
    max-width: 90ch;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin: 10px 0;
  }
  .figures {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(128px, 1fr));
    gap: 8px;
    margin: 12px 0;
    max-width: 1000px;
  }
  .figures div {
    padding: 6px 10px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
    border-radius: 4px;
    background: var(--vscode-editorWidget-background, transparent);
  }
  dt {
    color: var(--vscode-descriptionForeground);
    font-size: 0.9em;
  }
  dd {
    margin: 0;
    font-size: 1.15em;
    font-weight: 600;
  }
  table {
    width: 100%;
    max-width: 1100px;
    border-collapse: collapse;
  }
  th,
  td {
    padding: 3px 12px 3px 0;
    text-align: start;
    vertical-align: top;
    overflow-wrap: anywhere;
    border-bottom: 1px solid
      var(--vscode-editorGroup-border, var(--vscode-contrastBorder, transparent));
  }
  th {
    font-weight: normal;
    color: var(--vscode-descriptionForeground);
    white-space: nowrap;
  }
  th[scope='row'] {
    color: inherit;
  }
  .number {
    text-align: end;
    white-space: nowrap;
    font-variant-numeric: tabular-nums;
  }
  .wide {
    width: 40%;
    vertical-align: middle;
  }
  .share {
    display: flex;
    height: 10px;
  }
  .share i {
    box-sizing: border-box;
    height: 10px;
    min-width: 1px;
    border: 1px solid var(--vscode-contrastBorder, transparent);
  }
  i.agent {
    background: var(--vscode-charts-blue, var(--vscode-focusBorder));
  }
  i.setup {
    background: var(--vscode-descriptionForeground);
  }
  i.landing {
    background: var(--vscode-charts-green, var(--vscode-testing-iconPassed));
  }
  i.person {
    background: var(--vscode-charts-orange, var(--vscode-editorWarning-foreground));
  }
  i.wait {
    background: var(--vscode-charts-purple, var(--vscode-descriptionForeground));
  }
  .found {
    margin-bottom: 24px;
  }
  .found h2 {
    margin-top: 0;
  }
  .when {
    white-space: nowrap;
  }
  mark {
    color: inherit;
    background: var(--vscode-editor-findMatchHighlightBackground, transparent);
    outline: 1px solid var(--vscode-editor-findMatchHighlightBorder, transparent);
    font-weight: 600;
  }
  .state {
    display: inline-flex;
    gap: 4px;
    align-items: center;
    white-space: nowrap;
  }
  .error {
    padding: 6px 8px;
    color: var(--vscode-inputValidation-errorForeground, var(--vscode-foreground));
    background: var(--vscode-inputValidation-errorBackground);
    border: 1px solid var(--vscode-inputValidation-errorBorder, transparent);
    overflow-wrap: anywhere;
  }
`;
