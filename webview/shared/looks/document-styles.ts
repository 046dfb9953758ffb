// A page of an editor's size with one heading.

import { css } from 'lit';

export const documentStyles = css`
  :host {
    box-sizing: border-box;
    display: block;
    height: 100%;
    padding: 12px 20px;
    overflow: auto;
    background: var(--vscode-editor-background);
  }
  h1 {
    margin: 0 0 8px;
    font-size: 1.4em;
    font-weight: 600;
  }
  [role='alert'] {
    color: var(--vscode-errorForeground);
  }
`;
