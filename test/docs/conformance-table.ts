// The table of docs/worker-runtime.md: each row of the worker contract, with the test that has its
// name.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const begin = '<!-- conformance: written by `npm run docs` -->';
const end = '<!-- end of conformance -->';

/** The folders of the contract's tests. */
const places = ['test/unit/workers/**/*', 'test/workers/**/*', 'test/e2e/remote*'];

export interface RowTest {
  readonly row: string;
  readonly what: string;
  readonly file: string;
  /** An additional test of a row: "C31 also: …". */
  readonly isFurther: boolean;
}

export function rowTests(): readonly RowTest[] {
  return places
    .flatMap((place) => globSync(`${place}.test.ts`, { cwd: root }))
    .toSorted()
    .flatMap((file) => testsOf(file, readFileSync(join(root, file), 'utf8')));
}

function testsOf(file: string, text: string): RowTest[] {
  const titles = text.matchAll(/\b(?:test|soakTest)\(\s*(?:'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`)/g);
  return [...titles].flatMap(([, ...forms]) => {
    const title = forms.find((form) => form !== undefined) ?? '';
    const [, row, also, what = ''] = /^([CR]\d\d) (also: )?(.+)$/.exec(title) ?? [];
    return row === undefined ? [] : [{ row, what, file, isFurther: also !== undefined }];
  });
}

function conformanceTable(): string {
  const tests = rowTests();
  const rows = tests
    .filter(({ isFurther }) => !isFurther)
    .toSorted((one, other) => (one.row < other.row ? -1 : 1))
    .map(({ row, what, file }) => {
      const further = tests.filter((other) => other.isFurther && other.row === row).length;
      return `| ${row} | ${what.replaceAll('|', '\\|')} | \`${file}\`${further === 0 ? '' : `, and ${further} more`} |`;
    });
  return ['| row | its test | in |', '|---|---|---|', ...rows].join('\n');
}

/** The page with its table generated from the tests. */
export function withConformance(page: string): string {
  const before = page.slice(0, page.indexOf(begin) + begin.length);
  const after = page.slice(page.indexOf(end));
  return `${before}\n\n${conformanceTable()}\n\n${after}`;
}
