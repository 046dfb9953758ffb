// The tables of defects in docs/neighbours.md and docs/performance.md: every one that was found has a
// row, and every test that a row names exists.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { missingTests, type NamedTests, testsNamedIn } from './named-tests.ts';

/** Beside people, agents and repositories: how many there are by their letter. */
const found = { D: 9, W: 12, S: 6, A: 6, V: 6, H: 8 } as const;
/** Read in the code and not tried, before there was a test of each. */
const suspicions = 7;
/** Side by side with the Go original. */
const besideOriginal = 6;

interface Row {
  /** `W1`; `suspicion`; `race 4`. */
  readonly finding: string;
  readonly tests: readonly NamedTests[];
  /** Another row that names its test. */
  readonly as: string | null;
}

function rowsOf(file: string, heading: string, column: number): readonly Row[] {
  const text = readFileSync(file, 'utf8');
  const section = text.slice(text.indexOf(heading)).split('\n## ', 1)[0] ?? '';
  return section.split('\n').flatMap((line) => {
    if (!line.startsWith('| ') || line.startsWith('|-')) return [];
    const cells = line.split(' | ');
    const cell = cells[column] ?? '';
    const finding = (cells[0] ?? '').slice(2).trim();
    return [{ finding, tests: testsNamedIn(cell), as: /^as (\w+)/.exec(cell)?.[1] ?? null }];
  });
}

suite('the tables of defects that people and agents have met', () => {
  const rows = rowsOf('docs/neighbours.md', '# Beside people', 2).slice(1);

  test('every finding has a row that names a test by its title', () => {
    const named = new Set(
      rows
        .filter(({ tests }) => tests.some(({ titles }) => titles.length > 0))
        .flatMap(({ finding }) => finding.split(', ')),
    );
    const lacks = Object.entries(found).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, n) => `${letter}${n + 1}`).filter((id) => !named.has(id)),
    );
    assert.deepEqual(lacks, []);
    const decided = rows.filter(
      ({ finding, tests }) =>
        finding === 'suspicion' && tests.some(({ titles }) => titles.length > 0),
    );
    assert.equal(decided.length, suspicions);
  });

  test('every test that it names is there', () => {
    assert.ok(rows.length > 90, `${rows.length} rows were read`);
    const findings = new Set(rows.flatMap(({ finding }) => finding.split(', ')));
    const missing = rows.flatMap(({ finding, tests, as }) => {
      if (as !== null && !findings.has(as)) return [`${finding}: as ${as}`];
      if (as === null && tests.length === 0) return [`${finding}: no test`];
      return missingTests(tests).map((name) => `${finding}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });
});

suite('the table of defects that the side by side found', () => {
  test('each of the six has a test, and it is there', () => {
    const rows = rowsOf('docs/performance.md', '## Defects that the side by side found', 1).slice(
      1,
    );
    assert.equal(rows.length, besideOriginal);
    const lacks = rows.filter(({ tests }) => !tests.some(({ titles }) => titles.length > 0));
    assert.deepEqual(lacks, []);
    assert.deepEqual(missingTests(rows.flatMap(({ tests }) => tests)), []);
  });
});
