// Which rows are selected and which row has the focus. Pure: every step returns a new selection.

export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** The row that has the focus. */
  readonly active: string | null;
  /** The start of a range. */
  readonly anchor: string | null;
}

export const noSelection: Selection = { keys: new Set(), active: null, anchor: null };

export function selectOnly(key: string): Selection {
  return { keys: new Set([key]), active: key, anchor: key };
}

export function selectClicked(
  selection: Selection,
  rows: readonly string[],
  key: string,
  how: { readonly toggle: boolean; readonly range: boolean },
): Selection {
  if (how.range && selection.anchor !== null) return selectRange(selection, rows, key);
  if (!how.toggle) return selectOnly(key);
  const keys = new Set(selection.keys);
  if (!keys.delete(key)) keys.add(key);
  return { keys, active: key, anchor: key };
}

function selectRange(selection: Selection, rows: readonly string[], key: string): Selection {
  const from = rows.indexOf(selection.anchor ?? key);
  const to = rows.indexOf(key);
  if (from < 0 || to < 0) return selectOnly(key);
  const keys = new Set(rows.slice(Math.min(from, to), Math.max(from, to) + 1));
  return { keys, active: key, anchor: selection.anchor };
}

/** Moves the focus to a row; with `extend`, all rows between it and the anchor are selected. */
export function goTo(
  selection: Selection,
  rows: readonly string[],
  index: number,
  extend: boolean,
): Selection {
  const key = rows[Math.max(0, Math.min(index, rows.length - 1))];
  if (key === undefined) return selection;
  return extend ? selectRange(selection, rows, key) : selectOnly(key);
}

export function selectAll(selection: Selection, rows: readonly string[]): Selection {
  return { ...selection, keys: new Set(rows), active: selection.active ?? rows[0] ?? null };
}

/**
 * After rows were added or removed, removed rows are no longer selected, and the focus stays near
 * its previous place.
 */
export function keepPresent(
  selection: Selection,
  before: readonly string[],
  rows: readonly string[],
): Selection {
  const present = new Set(rows);
  const keys = new Set([...selection.keys].filter((key) => present.has(key)));
  const isThere = (key: string | null): boolean => key !== null && present.has(key);
  if (isThere(selection.active) || selection.active === null) {
    return {
      keys,
      active: selection.active,
      anchor: isThere(selection.anchor) ? selection.anchor : null,
    };
  }
  const at = before.indexOf(selection.active);
  const near = rows[Math.min(Math.max(at, 0), rows.length - 1)] ?? null;
  return { keys, active: near, anchor: near };
}
