// Fields that look like text until they are used, and the chips of dependencies.

import { css } from 'lit';

export const quietStyles = css`
  /* A field that looks like text until it is hovered or edited. */
  .quiet:not(:focus-within) {
    --vscode-settings-textInputForeground: var(--vscode-foreground);
    --vscode-settings-textInputBorder: transparent;
    background: transparent;
  }
  .quiet:hover:not(:focus-within, [disabled]) {
    --vscode-settings-textInputBorder: var(
      --vscode-input-border,
      var(--vscode-contrastBorder, var(--vscode-widget-border))
    );
  }
  .chip {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    max-width: 100%;
    padding: 0 2px 0 6px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, currentColor));
    border-radius: 4px;
  }
`;
