// Rows of a table as tests: several of them run ahead of the one that is being reported, to use two
// cores.

import { sized } from '../../../tier.ts';

const lanesDefault = 3;

/** Rows that differ only in text use the same code, so the gate runs every third one. */
export function shareOf<Row>(rows: readonly Row[]): readonly Row[] {
  return sized(
    rows.filter((_row, at) => at % 3 === 0),
    rows,
  );
}

export interface NamedRow {
  readonly title: string;
}

export interface TableOptions {
  readonly lanes?: number;
  /** Runs once, after the last row. */
  readonly end?: () => Promise<void>;
}

/** Defines one test for each row. */
export function table<Row extends NamedRow>(
  title: string,
  rows: readonly Row[],
  check: (row: Row) => Promise<void>,
  { lanes = lanesDefault, end }: TableOptions = {},
): void {
  suite(`invalid input: ${title}`, () => {
    const started = new Map<Row, Promise<unknown>>();
    const begin = (row: Row): Promise<unknown> => {
      const known = started.get(row);
      if (known !== undefined) return known;
      // The outcome as a value, so that a row that fails before its turn is not an unhandled
      // rejection.
      const outcome = check(row).then(
        () => null,
        (error: unknown) => error ?? new Error('it failed without a reason'),
      );
      started.set(row, outcome);
      return outcome;
    };
    suiteTeardown(async () => {
      await Promise.all(started.values());
      await end?.();
    });
    rows.forEach((row, index) => {
      test(row.title, async () => {
        const own = begin(row);
        for (const next of rows.slice(index + 1, index + lanes)) void begin(next);
        const failure = await own;
        if (failure !== null) throw failure;
      });
    });
  });
}
