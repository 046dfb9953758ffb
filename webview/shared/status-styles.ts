// Colors of task states: VS Code's own theme colors, with a fallback for themes that lack one.

import { css } from 'lit';

export const statusStyles = css`
  .tone-busy {
    color: var(--vscode-charts-blue, var(--vscode-focusBorder));
  }
  .tone-good {
    color: var(--vscode-testing-iconPassed, var(--vscode-foreground));
  }
  .tone-bad {
    color: var(--vscode-testing-iconFailed, var(--vscode-errorForeground));
  }
  .tone-asks {
    color: var(--vscode-editorWarning-foreground, var(--vscode-foreground));
  }
  .tone-quiet {
    color: var(--vscode-icon-foreground);
  }
`;
