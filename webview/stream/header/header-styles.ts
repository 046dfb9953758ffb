// The styles of a stream's header.

import { css } from 'lit';

export const headerStyles = css`
  header {
    padding: 8px 16px;
    border-bottom: 1px solid var(--vscode-editorGroup-border, var(--vscode-contrastBorder));
  }
  .title,
  .facts,
  .steps,
  .parts,
  .trouble {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px 12px;
  }
  .title {
    gap: 6px;
    flex-wrap: nowrap;
  }
  .gate {
    margin: 4px 0 0;
    overflow-wrap: anywhere;
  }
  h1 {
    margin: 0;
    font-size: 115%;
    font-weight: 600;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    unicode-bidi: isolate;
  }
  .id,
  .facts,
  .duration {
    color: var(--vscode-descriptionForeground);
    white-space: nowrap;
  }
  .facts,
  .steps,
  .parts,
  .trouble {
    margin: 4px 0 0;
    padding: 0;
    list-style: none;
  }
  .steps {
    gap: 2px 16px;
  }
  .step {
    display: inline-flex;
    align-items: center;
    gap: 4px;
  }
  .step.waiting,
  .step.skipped {
    color: var(--vscode-descriptionForeground);
  }
  .words::first-letter {
    text-transform: uppercase;
  }
  .words {
    display: inline-block;
  }
  .step.running .icon {
    color: var(--vscode-progressBar-background, var(--vscode-focusBorder));
  }
  .step.done .icon {
    color: var(--vscode-testing-iconPassed, var(--vscode-foreground));
  }
  .step.failed .icon,
  .trouble .icon {
    color: var(--vscode-testing-iconFailed, var(--vscode-errorForeground));
  }
  .step .open {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    padding: 0 4px;
    margin-inline: -4px;
    border-radius: 4px;
  }
  .step .open:hover {
    background: var(--vscode-toolbar-hoverBackground);
  }
  .what > div:not(.next) {
    white-space: pre-wrap;
    max-width: 120ch;
  }
  .next {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin-top: 6px;
  }
  .trouble {
    flex-wrap: nowrap;
    align-items: flex-start;
    gap: 6px;
    overflow-wrap: anywhere;
  }
`;
