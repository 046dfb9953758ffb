// Completion of `@path` in the message field: the completed text, and its list. The list is a
// listbox that the field controls, so the focus stays in the field.

import { css, html, nothing, type TemplateResult } from 'lit';
import { visibleLine } from '../../shared/looks/visible-text.ts';

export interface OpenCompletion {
  /** Position of the @. */
  readonly start: number;
  /** The text after it. */
  readonly typed: string;
  readonly paths: readonly string[];
  readonly active: number;
}

/** Only at the start of a word, because @ is an ordinary character inside an address. */
const sign = /(?:^|\s)@([^\s@]*)$/u;

/** Returns null if the caret is not after an @ that starts a word. */
export function typedPath(
  text: string,
  caret: number,
): { readonly start: number; readonly typed: string } | null {
  const found = sign.exec(text.slice(0, caret));
  const typed = found?.[1];
  return typed === undefined ? null : { start: caret - typed.length - 1, typed };
}

/** The text with the path in place of the @ and the text after it. */
export function withPath(
  text: string,
  { start, typed }: Pick<OpenCompletion, 'start' | 'typed'>,
  path: string,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(start + 1 + typed.length);
  const head = `${text.slice(0, start)}${path}${/^\s/u.test(rest) ? '' : ' '}`;
  return { text: `${head}${rest}`, caret: head.length };
}

export function moved(open: OpenCompletion, step: 1 | -1): OpenCompletion {
  const count = open.paths.length;
  return { ...open, active: (open.active + step + count) % count };
}

export const completionStyles = css`
  .paths {
    position: absolute;
    left: 0;
    right: 0;
    bottom: 100%;
    margin: 0 0 2px;
    padding: 4px 0;
    max-height: 40vh;
    overflow-y: auto;
    list-style: none;
    color: var(--vscode-editorSuggestWidget-foreground, var(--vscode-foreground));
    background: var(--vscode-editorSuggestWidget-background, var(--vscode-editor-background));
    border: 1px solid
      var(--vscode-editorSuggestWidget-border, var(--vscode-contrastBorder, transparent));
    z-index: 1;
  }
  .paths li {
    padding: 2px 10px;
    cursor: pointer;
    white-space: nowrap;
    overflow: hidden;
    text-overflow: ellipsis;
    direction: ltr;
  }
  .paths li[aria-selected='true'] {
    color: var(--vscode-editorSuggestWidget-selectedForeground, var(--vscode-foreground));
    background: var(--vscode-editorSuggestWidget-selectedBackground);
    outline: 1px solid var(--vscode-contrastActiveBorder, transparent);
    outline-offset: -1px;
  }
`;

export function completionTemplate(
  open: OpenCompletion | null,
  take: (path: string) => void,
): TemplateResult | typeof nothing {
  if (open === null) return nothing;
  return html`<ul class="paths" id="paths" role="listbox" aria-label="Files">
    ${open.paths.map(
      (path, index) =>
        html`<li
          id="path-${index}"
          role="option"
          aria-selected=${index === open.active}
          @mousedown=${(event: MouseEvent) => {
            event.preventDefault();
            take(path);
          }}
        >
          ${visibleLine(path)}
        </li>`,
    )}
  </ul>`;
}
