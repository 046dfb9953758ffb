// The tree's memory while it is hidden or the window is reloaded: folds and filters, never facts.

import { isStatusFilter, type StatusFilter } from './status-filter.ts';

export interface TreeMemory {
  readonly collapsed: readonly string[];
  readonly text: string;
  readonly filter: StatusFilter;
  readonly hasBar: boolean;
  /** Keys of the selected rows, of the active row, and of the first visible row. */
  readonly selected: readonly string[];
  readonly active: string | null;
  readonly top: string | null;
}

export const freshMemory: TreeMemory = {
  collapsed: [],
  text: '',
  filter: 'all',
  hasBar: false,
  selected: [],
  active: null,
  top: null,
};

const keysMax = 5_000;

/** State that is damaged or was stored by another version is discarded. */
export function readMemory(kept: unknown): TreeMemory {
  if (typeof kept !== 'object' || kept === null) return freshMemory;
  const { collapsed, text, filter, hasBar, selected, active, top } = kept as Readonly<
    Record<string, unknown>
  >;
  return {
    collapsed: keysIn(collapsed),
    text: typeof text === 'string' ? text.slice(0, 500) : '',
    filter: isStatusFilter(filter) ? filter : 'all',
    hasBar: hasBar === true,
    selected: keysIn(selected),
    active: typeof active === 'string' ? active : null,
    top: typeof top === 'string' ? top : null,
  };
}

function keysIn(kept: unknown): readonly string[] {
  if (!Array.isArray(kept)) return [];
  return kept.filter((key) => typeof key === 'string').slice(0, keysMax);
}
