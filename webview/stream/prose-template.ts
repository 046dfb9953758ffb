// Prose of agents and of people as templates. Text reaches the page as text nodes only.

import { html, type TemplateResult } from 'lit';
import { proseBlocks, proseSpans, type ProseBlock } from './prose.ts';
import { ansiTemplate, plainTemplate } from './text-template.ts';

export function proseTemplate(text: string): readonly TemplateResult[] {
  return proseBlocks(text).map(blockTemplate);
}

function blockTemplate(block: ProseBlock): TemplateResult {
  switch (block.kind) {
    case 'code':
      return html`<pre class="code" data-find>${ansiTemplate(block.text, true)}</pre>`;
    case 'heading':
      return html`<div class="heading" data-find>${spans(block.text)}</div>`;
    case 'item':
      return html`<div class="item depth-${block.depth}">
        <span class="mark">${block.mark}</span><span data-find>${spans(block.text)}</span>
      </div>`;
    case 'text':
      return html`<div class="pre" data-find>${spans(block.text)}</div>`;
  }
}

function spans(text: string): unknown {
  return proseSpans(text).map((span) => {
    switch (span.kind) {
      case 'text':
        return plainTemplate(span.text);
      case 'code':
        return html`<code>${plainTemplate(span.text)}</code>`;
      case 'bold':
        return html`<b>${plainTemplate(span.text)}</b>`;
    }
  });
}
