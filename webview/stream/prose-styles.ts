// How prose of agents and of people looks.

import { css } from 'lit';

export const proseStyles = css`
  .prose {
    line-height: 1.5;
  }
  .prose > * + * {
    margin-top: 6px;
  }
  .prose .item + .item {
    margin-top: 2px;
  }
  .heading {
    font-weight: 600;
    font-size: 110%;
  }
  .item {
    display: flex;
    gap: 8px;
    padding-inline-start: 4px;
    overflow-wrap: anywhere;
  }
  .item > .mark {
    flex: none;
    color: var(--vscode-descriptionForeground);
  }
  .depth-1 {
    margin-inline-start: 16px;
  }
  .depth-2 {
    margin-inline-start: 32px;
  }
  .depth-3 {
    margin-inline-start: 48px;
  }
  .depth-4 {
    margin-inline-start: 64px;
  }
  .depth-5 {
    margin-inline-start: 80px;
  }
  .depth-6 {
    margin-inline-start: 96px;
  }
  code {
    color: var(--vscode-textPreformat-foreground);
    background: var(--vscode-textPreformat-background);
    border-radius: 3px;
    padding: 0 2px;
  }
  pre.code {
    padding: 6px 8px;
    background: var(--vscode-textCodeBlock-background);
    border: 1px solid var(--vscode-contrastBorder, transparent);
    border-radius: 3px;
  }
`;
