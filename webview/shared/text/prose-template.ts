// Templates for agents' and people's prose. Text reaches the page only as text nodes, and link
// addresses are checked.

import { html, nothing, type TemplateResult } from 'lit';
import { codeTemplate } from './code-template.ts';
import type { FileReference, ProseSpan } from './file-reference.ts';
import { proseBlocks, type ProseBlock, type ProseCell } from './prose.ts';
import { plainTemplate } from './text-template.ts';
import { visibleLine } from '../looks/visible-text.ts';

export interface ProseOptions {
  /** Opens a file that the text names; null if files cannot be opened. */
  readonly openFile: ((file: FileReference) => void) | null;
  /** Shows an image that the project stores. If absent, its source is shown. */
  readonly image?: (name: string, words: string) => TemplateResult;
  /** Its links can be reached with Tab. */
  readonly isActive: boolean;
}

export function proseTemplate(text: string, options: ProseOptions): readonly TemplateResult[] {
  return proseBlocks(text).map((block) => blockTemplate(block, options));
}

function blockTemplate(block: ProseBlock, options: ProseOptions): TemplateResult {
  switch (block.kind) {
    case 'code':
      return html`<pre class="code" data-find>${codeTemplate(block.text, block.language)}</pre>`;
    case 'heading':
      return html`<div class="heading level-${block.level}" data-find>
        ${spansTemplate(block.spans, options)}
      </div>`;
    case 'list':
      return listTemplate(block, options);
    case 'quote':
      return html`<blockquote>
        ${block.blocks.map((inner) => blockTemplate(inner, options))}
      </blockquote>`;
    case 'table':
      return html`<table>
        <thead>
          <tr>
            ${block.head.map((cell) => cellTemplate(cell, true, options))}
          </tr>
        </thead>
        <tbody>
          ${block.rows.map(
            (row) =>
              html`<tr>
                ${row.map((cell) => cellTemplate(cell, false, options))}
              </tr>`,
          )}
        </tbody>
      </table>`;
    case 'rule':
      return html`<hr />`;
    case 'text':
      return html`<div class="pre" data-find>${spansTemplate(block.spans, options)}</div>`;
  }
}

function listTemplate(
  list: Extract<ProseBlock, { kind: 'list' }>,
  options: ProseOptions,
): TemplateResult {
  const items = list.items.map(
    ({ isDone, blocks }) =>
      html`<li class=${isDone === null ? '' : 'todo'}>
        ${
          isDone === null
            ? nothing
            : html`<span class="box" role="img" aria-label=${isDone ? 'done' : 'to do'}
                >${isDone ? '☑' : '☐'}</span
              >`
        }${blocks.map((block) => blockTemplate(block, options))}
      </li>`,
  );
  return list.start === null
    ? html`<ul>
        ${items}
      </ul>`
    : html`<ol start=${list.start}>
        ${items}
      </ol>`;
}

function cellTemplate(cell: ProseCell, isHead: boolean, options: ProseOptions): TemplateResult {
  const inside = spansTemplate(cell.spans, options);
  return isHead
    ? html`<th scope="col" class=${cell.align} data-find>${inside}</th>`
    : html`<td class=${cell.align} data-find>${inside}</td>`;
}

function spansTemplate(spans: readonly ProseSpan[], options: ProseOptions): unknown {
  return spans.map((span) => spanTemplate(span, options));
}

function spanTemplate(span: ProseSpan, options: ProseOptions): unknown {
  switch (span.kind) {
    case 'text':
      return plainTemplate(span.text);
    case 'code':
      return html`<code>${plainTemplate(span.text)}</code>`;
    case 'bold':
      return html`<b>${spansTemplate(span.spans, options)}</b>`;
    case 'italic':
      return html`<i>${spansTemplate(span.spans, options)}</i>`;
    case 'struck':
      return html`<s>${spansTemplate(span.spans, options)}</s>`;
    case 'link':
      // VS Code itself opens links in webviews, and first asks whether their domain is trusted.
      return html`<a href=${span.url} title=${visibleLine(span.url)} tabindex=${tab(options)}
        >${plainTemplate(span.text)}</a
      >`;
    case 'image':
      return options.image?.(span.name, span.words) ?? plainTemplate(span.text);
    case 'file': {
      const { openFile } = options;
      if (openFile === null) return html`<code>${plainTemplate(span.text)}</code>`;
      return html`<button
        type="button"
        class="link file"
        title="Open the file"
        tabindex=${tab(options)}
        @click=${() => openFile(span.file)}
      >
        ${plainTemplate(span.text)}
      </button>`;
    }
  }
}

function tab({ isActive }: ProseOptions): number {
  return isActive ? 0 : -1;
}
