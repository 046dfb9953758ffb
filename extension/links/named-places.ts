// Locations in files that the output of a test or a compiler names: `src/a.ts:3:7: error …`,
// `src/a.ts(3,7): error`, `at f (/work/src/a.ts:3:7)`. Pure.

export interface NamedPlace {
  readonly path: string;
  /** Starts at 1. */
  readonly line: number;
  /** The line of the output that names the location. */
  readonly message: string;
}

const placesMax = 100;
const messageMax = 300;
const named =
  /(?<![\w:@./\\-])(?:file:\/\/)?((?:[A-Za-z]:)?[\w@./\\-]*[\w-]\.[A-Za-z]\w{0,9})(?::(\d{1,7})(?::\d{1,7})?|\((\d{1,7})(?:,\d{1,7})?\))/gu;

/**
 * Returns each location once, in the order of the output; locations in dependencies are omitted.
 */
export function namedPlaces(text: string): readonly NamedPlace[] {
  const found = new Map<string, NamedPlace>();
  for (const row of text.split('\n')) {
    for (const [, path = '', colon, bracket] of row.slice(0, 2_000).matchAll(named)) {
      const line = Number(colon ?? bracket);
      if (line < 1 || /(?:^|[/\\])node_modules[/\\]|^node:/u.test(path)) continue;
      const key = `${path}:${line}`;
      if (!found.has(key)) found.set(key, { path, line, message: row.trim().slice(0, messageMax) });
      if (found.size >= placesMax) return [...found.values()];
    }
  }
  return [...found.values()];
}
