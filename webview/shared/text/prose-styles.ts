// The styles of agents' and people's prose and code.

import { css, unsafeCSS } from 'lit';
import type { CodeKind } from './highlight.ts';

// VS Code does not give a webview its theme's colors for code, so this uses the terminal's colors,
// mixed with the text's color, because a theme chooses them for a terminal's background, not for
// this one.
const codeColors: { readonly [K in Exclude<CodeKind, 'comment'>]: string } = {
  keyword: 'ansiMagenta',
  string: 'ansiGreen',
  number: 'ansiCyan',
  name: 'ansiBlue',
  type: 'ansiCyan',
  attribute: 'ansiYellow',
};
const codeRules = Object.entries(codeColors)
  .map(([kind, color]) => {
    const mixed = `color-mix(in srgb, var(--vscode-terminal-${color}) 50%, var(--vscode-foreground))`;
    return `.code-${kind} { color: ${mixed}; }`;
  })
  .join('\n');

export const codeStyles = css`
  ${unsafeCSS(codeRules)}
  .code-comment {
    font-style: italic;
    opacity: 0.9;
  }
`;

export const proseStyles = css`
  .prose {
    line-height: 1.5;
  }
  .prose > * + *,
  blockquote > * + *,
  li > * + * {
    margin-top: 6px;
  }
  .heading {
    font-weight: 600;
    font-size: 105%;
  }
  .heading.level-1 {
    font-size: 125%;
  }
  .heading.level-2 {
    font-size: 115%;
  }
  .prose ul,
  .prose ol {
    margin-block: 0;
    padding-inline-start: 24px;
  }
  .prose ul {
    list-style: disc;
  }
  .prose ol {
    list-style: decimal;
  }
  .prose > * + ul,
  .prose > * + ol {
    margin-top: 6px;
  }
  li + li,
  li > ul,
  li > ol {
    margin-top: 2px;
  }
  li::marker {
    color: var(--vscode-descriptionForeground);
  }
  li.todo {
    list-style: none;
    display: flex;
    gap: 6px;
    margin-inline-start: -20px;
  }
  li.todo > * + * {
    margin-top: 0;
  }
  blockquote {
    margin: 0;
    padding: 2px 10px;
    border-inline-start: 3px solid var(--vscode-textBlockQuote-border, currentColor);
    background: var(--vscode-textBlockQuote-background);
  }
  .prose table {
    border-collapse: collapse;
    max-width: 100%;
  }
  th,
  td {
    padding: 3px 10px;
    border: 1px solid var(--vscode-editorWidget-border, var(--vscode-contrastBorder, currentColor));
    text-align: start;
    vertical-align: top;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  th {
    font-weight: 600;
    background: var(--vscode-editorWidget-background);
    color: var(--vscode-editorWidget-foreground);
  }
  th.center,
  td.center {
    text-align: center;
  }
  th.end,
  td.end {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  hr {
    border: 0;
    border-top: 1px solid
      var(--vscode-editorWidget-border, var(--vscode-contrastBorder, currentColor));
  }
  .prose a,
  .prose .link.file {
    color: var(--vscode-textLink-foreground);
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  .prose a:focus-visible,
  .prose .link.file:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
  }
  .prose .link.file {
    display: inline;
    padding: 0;
    font-family: var(--vscode-editor-font-family, monospace);
    font-size: var(--vscode-editor-font-size, 12px);
    text-align: start;
    white-space: normal;
    overflow-wrap: anywhere;
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
