// The past that `drover at` shows, compared with the tables at random times of the simulation,
// between two transactions, whatever died before or afterwards.

import { openPast } from '../../server/store/history/past.ts';
import {
  pastlessColumns,
  pastTables,
  type PastKept,
} from '../../server/store/schema/past-tables.ts';
import type { Db } from '../../server/store/rows/one-moment.ts';
import type { SeededChance } from '../doubles/seeded-chance.ts';
import type { World } from './world.ts';

type Row = Readonly<Record<string, unknown>>;

interface Moment {
  /** The last change before that time. */
  readonly change: number;
  /** The tables as JSON. */
  readonly tables: ReadonlyMap<string, string>;
}

const momentsMax = 4;
/** Maximum number of checks between two stored moments. */
const looksMax = 120;

export class PastMoments {
  readonly #world: World;
  readonly #chance: SeededChance;
  readonly #moments: Moment[] = [];
  #untilNext: number;

  constructor(world: World, chance: SeededChance) {
    this.#world = world;
    this.#chance = chance;
    this.#untilNext = chance.between(1, looksMax);
  }

  look(): void {
    const world = this.#world;
    this.#untilNext -= 1;
    const isFull = this.#moments.length >= momentsMax;
    if (this.#untilNext > 0 || isFull || world.database.isTransaction) return;
    this.#untilNext = this.#chance.between(1, looksMax);
    const [row] = world.rows<{ n: number | null }>('select max(n) as n from past');
    const tables = new Map(
      pastTables.map((kept) => [
        kept.table,
        asText(world.rows(`select * from ${kept.table}`), kept),
      ]),
    );
    this.#moments.push({ change: row?.n ?? 0, tables });
  }

  async check(): Promise<void> {
    const { db } = this.#world;
    for (const { change, tables } of this.#moments) {
      const past = await openPast(db, { change });
      try {
        for (const kept of pastTables) {
          const shown = asText(await rowsOf(past.db, kept), kept);
          if (shown === tables.get(kept.table)) continue;
          const was = tables.get(kept.table) ?? '';
          this.#world.violate('past', differenceOf(kept.table, change, was, shown));
        }
      } finally {
        await past.close();
      }
    }
  }
}

async function rowsOf(db: Db, { table }: PastKept): Promise<readonly Row[]> {
  return (await db.selectFrom(table).selectAll().execute()) as readonly Row[];
}

function asText(rows: readonly Row[], { key }: PastKept): string {
  const lines = rows.map((row) => {
    const kept = Object.entries(row).filter(([name]) => !pastlessColumns.includes(name));
    return JSON.stringify([
      key.map((name) => row[name]),
      Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    ]);
  });
  return lines.sort().join('\n');
}

function differenceOf(table: string, change: number, was: string, shown: string): string {
  const [before, after] = [was.split('\n'), shown.split('\n')];
  const missing = before.find((line) => !after.includes(line)) ?? 'nothing';
  const other = after.find((line) => !before.includes(line)) ?? 'nothing';
  return `${table} after change ${change} was ${missing} and is shown as ${other}`;
}
