// The bar above the rows: the text and states of the filter.

import { html, type TemplateResult } from 'lit';
import { VscodeTextfield } from '../shared/looks/text-field.ts';
import { isStatusFilter, statusFilters } from './status-filter.ts';
import type { TreeState } from './tree-state.ts';

export function filterBar(
  { text, filter }: TreeState,
  onInput: (event: Event) => void,
  onKey: (event: KeyboardEvent) => void,
): TemplateResult {
  return html`<div class="bar" role="search">
    <vscode-textfield
      .label=${'Filter tasks'}
      placeholder="Filter"
      .value=${text}
      @input=${onInput}
      @keydown=${onKey}
    ></vscode-textfield>
    <select aria-label="Filter by state" @change=${onInput}>
      ${Object.entries(statusFilters).map(
        ([name, { title }]) =>
          html`<option value=${name} ?selected=${name === filter}>${title}</option>`,
      )}
    </select>
  </div>`;
}

/** Keys of the text field: the user may have assigned one of them to a command of the tree. */
export function keepFromWindow(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (!ctrlKey && !metaKey && !altKey && !/^F\d/u.test(key)) event.stopPropagation();
}

export function readFilter(state: TreeState, field: VscodeTextfield | HTMLSelectElement): void {
  if (field instanceof VscodeTextfield) state.text = field.value;
  else if (isStatusFilter(field.value)) state.filter = field.value;
  state.changed();
}

export function closeFilter(state: TreeState): void {
  state.hasBar = false;
  state.text = '';
  state.filter = 'all';
  state.changed();
}
