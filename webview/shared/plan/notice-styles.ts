// The styles of a message that replaces a panel's content, and of a note below it.

import { css } from 'lit';

export const noticeStyles = css`
  .note {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    align-items: center;
    padding: 6px 8px;
    overflow-wrap: anywhere;
    max-height: 12em;
    overflow-y: auto;
  }
  .note.error {
    color: var(--vscode-inputValidation-errorForeground, var(--vscode-foreground));
    background: var(--vscode-inputValidation-errorBackground);
    border: 1px solid var(--vscode-inputValidation-errorBorder, transparent);
  }
  /* In a narrow view, the buttons go below the text instead of squeezing it. */
  .note .words {
    flex: 1 1 14em;
  }
  .note .icon,
  .note button {
    flex: none;
  }
  .welcome {
    display: flex;
    flex-direction: column;
    gap: 10px;
    padding: 12px 20px;
    overflow-wrap: anywhere;
  }
  .welcome p {
    margin: 0;
  }
`;
