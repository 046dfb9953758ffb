// The styles of the rows of a transcript.

import { css, unsafeCSS } from 'lit';

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

const themeName = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

// Black and white are the background colors of some themes: there, text in these colors is drawn in
// the text color. The other colors are mixed with the text's color, because a theme chooses them
// for a terminal's background, not for this one.
const colours = names
  .flatMap((name) => {
    const isGround = name === 'black' || name === 'white';
    return ['', 'bright-'].map((light) => {
      const variable = `--vscode-terminal-ansi${light === '' ? '' : 'Bright'}${themeName(name)}`;
      const text = isGround
        ? 'var(--vscode-foreground)'
        : `color-mix(in srgb, var(${variable}) 50%, var(--vscode-foreground))`;
      return [
        `.fg-${light}${name} { color: ${text}; }`,
        `.bg-${light}${name} { background: var(${variable}); color: var(--vscode-editor-background); }`,
      ].join('\n');
    });
  })
  .join('\n');

export const ansiStyles = css`
  ${unsafeCSS(colours)}
  .bold {
    font-weight: bold;
  }
  .dim {
    color: var(--vscode-descriptionForeground);
  }
  .italic {
    font-style: italic;
  }
  .underline {
    text-decoration: underline;
  }
  .strikethrough {
    text-decoration: line-through;
  }
  .underline.strikethrough {
    text-decoration: underline line-through;
  }
  .sign {
    color: var(--vscode-editorWarning-foreground, var(--vscode-foreground));
    border: 1px solid currentColor;
    border-radius: 2px;
    padding: 0 1px;
    margin: 0 1px;
    font-size: 85%;
  }
`;

export const rowStyles = css`
  .row {
    position: absolute;
    inset-inline: 0;
    top: 0;
    box-sizing: border-box;
    padding: 2px 16px;
    contain: layout style;
  }
  .row.tight {
    padding-block: 0;
  }
  .aside {
    position: absolute;
    top: 2px;
    inset-inline-end: 12px;
    display: none;
    align-items: center;
    gap: 4px;
    padding-inline-start: 8px;
    border-radius: 3px;
    color: var(--vscode-descriptionForeground);
    background: var(--vscode-editor-background);
  }
  .row:hover > .aside,
  .row:focus > .aside,
  .row:focus-within > .aside {
    display: flex;
  }
  pre,
  .pre {
    margin: 0;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    unicode-bidi: plaintext;
  }
  pre,
  .mono,
  code {
    font-family: var(--vscode-editor-font-family, monospace);
    font-size: var(--vscode-editor-font-size, 12px);
    line-height: 1.4;
  }
  .line,
  .caption,
  .summary {
    display: flex;
    gap: 6px;
    align-items: center;
    min-height: 20px;
  }
  .line {
    align-items: flex-start;
  }
  .line .icon {
    margin-top: 1px;
  }
  .faint {
    color: var(--vscode-descriptionForeground);
  }
  .warn .icon {
    color: var(--vscode-editorWarning-foreground);
  }
  .bad,
  .bad .icon {
    color: var(--vscode-errorForeground);
  }
  .message {
    padding: 4px 0;
    max-width: 100ch;
    line-height: 1.5;
  }
  .lines.stderr {
    border-inline-start: 2px solid var(--vscode-errorForeground);
    padding-inline-start: 6px;
  }
  .summary {
    width: 100%;
    padding: 0;
    border: 0;
    text-align: start;
    overflow: hidden;
  }
  .summary > * {
    flex: none;
  }
  .summary .name {
    font-weight: 600;
  }
  .summary .about {
    flex: 1 1 auto;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    color: var(--vscode-descriptionForeground);
  }
  .summary .outcome {
    display: inline-flex;
    gap: 4px;
    margin-inline-start: auto;
    padding-inline-end: 4px;
    color: var(--vscode-descriptionForeground);
  }
  .summary .outcome.bad {
    color: var(--vscode-errorForeground);
  }
  .added {
    color: var(--vscode-gitDecoration-addedResourceForeground, var(--vscode-foreground));
  }
  .removed {
    color: var(--vscode-gitDecoration-deletedResourceForeground, var(--vscode-foreground));
  }
  .inside {
    display: flex;
    flex-direction: column;
    align-items: flex-start;
    gap: 4px;
    padding: 2px 0 6px 22px;
  }
  .inside > pre,
  .inside > .diff,
  .inside > .prose {
    width: 100%;
    box-sizing: border-box;
  }
`;

export const blockStyles = css`
  .diff {
    border: 1px solid var(--vscode-editorWidget-border, var(--vscode-contrastBorder, transparent));
    border-radius: 3px;
    overflow: hidden;
  }
  .diff-line {
    display: flex;
    border: 1px solid transparent;
  }
  .diff-sign {
    flex: none;
    width: 2ch;
    text-align: center;
    user-select: none;
    white-space: pre;
  }
  .diff-text {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    min-width: 0;
  }
  /* The mark is strong enough: a syntax color on it would be hard to read. */
  .diff-line .word > * {
    color: inherit;
  }
  .diff-line.added .word {
    background: var(--vscode-diffEditor-insertedTextBackground);
    border-radius: 2px;
  }
  .diff-line.removed .word {
    background: var(--vscode-diffEditor-removedTextBackground);
    border-radius: 2px;
  }
  .diff-line.added {
    color: inherit;
    background: var(--vscode-diffEditor-insertedLineBackground);
    border-color: var(--vscode-diffEditor-insertedTextBorder, transparent);
  }
  .diff-line.removed {
    color: inherit;
    background: var(--vscode-diffEditor-removedLineBackground);
    border-color: var(--vscode-diffEditor-removedTextBorder, transparent);
  }
  .question {
    margin: 4px 0;
    padding: 6px 10px 8px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
    border-inline-start: 3px solid var(--vscode-descriptionForeground);
    border-radius: 3px;
  }
  .question.open {
    border-inline-start-color: var(--vscode-editorWarning-foreground);
    background: var(--vscode-editorWidget-background);
    color: var(--vscode-editorWidget-foreground);
  }
  .question .caption {
    font-weight: 600;
  }
  .question .end {
    margin-top: 4px;
    color: var(--vscode-descriptionForeground);
  }
  .question.open .end {
    color: inherit;
  }
  .hint {
    display: flex;
    justify-content: flex-end;
    padding: 4px 0;
  }
  .bubble {
    max-width: min(80%, 90ch);
    padding: 6px 10px;
    border-radius: 8px;
    color: var(--vscode-editorWidget-foreground);
    background: var(--vscode-editorWidget-background);
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
  }
  .bubble .state {
    font-size: 90%;
    text-align: end;
  }
  .rest {
    color: var(--vscode-descriptionForeground);
  }
  ::highlight(drover-find) {
    background-color: var(--vscode-editor-findMatchHighlightBackground);
    text-decoration: underline;
  }
  ::highlight(drover-find-current) {
    background-color: var(--vscode-editor-findMatchBackground);
    text-decoration: underline 2px;
  }
`;
