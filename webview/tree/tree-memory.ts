// What the tree remembers while it is hidden or the window is reloaded: what is folded and
// filtered, never a fact.

import { isStatusFilter, type StatusFilter } from './status-filter.ts';

export interface TreeMemory {
  readonly collapsed: readonly string[];
  readonly text: string;
  readonly filter: StatusFilter;
  readonly hasBar: boolean;
}

export const freshMemory: TreeMemory = { collapsed: [], text: '', filter: 'all', hasBar: false };

const collapsedMax = 5_000;

/** Whatever was kept by another version, or is damaged, is forgotten. */
export function readMemory(kept: unknown): TreeMemory {
  if (typeof kept !== 'object' || kept === null) return freshMemory;
  const { collapsed, text, filter, hasBar } = kept as Readonly<Record<string, unknown>>;
  return {
    collapsed: Array.isArray(collapsed)
      ? collapsed.filter((key) => typeof key === 'string').slice(0, collapsedMax)
      : [],
    text: typeof text === 'string' ? text.slice(0, 500) : '',
    filter: isStatusFilter(filter) ? filter : 'all',
    hasBar: hasBar === true,
  };
}
