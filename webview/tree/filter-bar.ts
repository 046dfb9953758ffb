// The bar above the rows: words and states that they are filtered by.

import { html, type TemplateResult } from 'lit';
import { statusFilters } from './status-filter.ts';
import type { TreeState } from './tree-state.ts';

export function filterBar(
  { text, filter }: TreeState,
  onInput: (event: Event) => void,
  onKey: (event: KeyboardEvent) => void,
): TemplateResult {
  return html`<div class="bar" role="search">
    <input
      class="filter"
      type="text"
      aria-label="Filter tasks"
      placeholder="Filter"
      .value=${text}
      @input=${onInput}
      @keydown=${onKey}
    />
    <select aria-label="Filter by state" @change=${onInput}>
      ${Object.entries(statusFilters).map(
        ([name, { title }]) =>
          html`<option value=${name} ?selected=${name === filter}>${title}</option>`,
      )}
    </select>
  </div>`;
}
