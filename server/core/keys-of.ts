// The names in a table that is written out, with their own type.

export function keysOf<Table extends object>(
  table: Table,
): readonly Extract<keyof Table, string>[] {
  return Object.keys(table) as Extract<keyof Table, string>[];
}
