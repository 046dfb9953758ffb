// Tests that a table in a document names, and whether they are there.

import { existsSync, readFileSync } from 'node:fs';

export interface NamedTests {
  readonly file: string;
  readonly titles: readonly string[];
}

/** Of a cell such as `test/a.test.ts`: "a title", "the beginning of …"; `test/b.test.ts`. */
export function testsNamedIn(cell: string): readonly NamedTests[] {
  const parts = cell.split(/(?=`test\/)/).filter((part) => part.startsWith('`test/'));
  return parts.map((part) => ({
    file: /^`([^`]+)`/.exec(part)?.[1] ?? '',
    titles: [...part.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
  }));
}

/** The files and titles that do not exist. "…" in a title stands for any words. */
export function missingTests(named: readonly NamedTests[]): readonly string[] {
  return named.flatMap(({ file, titles }) => {
    if (!existsSync(file)) return [file];
    const lines = readFileSync(file, 'utf8').split('\n');
    return titles
      .filter((title) => !lines.some((line) => holds(line, title)))
      .map((title) => `${file}: ${title}`);
  });
}

function holds(line: string, title: string): boolean {
  let at = 0;
  for (const part of title.split('…').map((each) => each.trim())) {
    const found = line.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}
