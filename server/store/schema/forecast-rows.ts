// Rows of forecasts: work that overlaps before it lands.

import type { Defaulted } from './column-values.ts';

export interface ForecastTable {
  /** The task that started later. */
  task_id: string;
  /** The task that started earlier; '' = the line's landed work. */
  other_id: string;
  level: 'same_file' | 'conflict';
  /** Paths as JSON. */
  files: string;
  first_seen_ms: number;
  /** When the first conflict was detected. */
  conflict_ms: Defaulted<number | null>;
  /** When they stopped overlapping, or one of them ended. */
  ended_ms: Defaulted<number | null>;
  /** Conflicting paths that the agents know about, as JSON. */
  told: Defaulted<string>;
}

export interface ForecastTables {
  forecasts: ForecastTable;
}

export const forecastStatements: readonly string[] = [
  `CREATE TABLE forecasts (
    task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE, other_id TEXT NOT NULL,
    level TEXT NOT NULL, files TEXT NOT NULL, first_seen_ms INTEGER NOT NULL, conflict_ms INTEGER,
    ended_ms INTEGER, told TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (task_id, other_id)) WITHOUT ROWID`,
  `CREATE INDEX forecasts_other ON forecasts(other_id)`,
  `ALTER TABLE guidance_queue ADD COLUMN source TEXT NOT NULL DEFAULT 'person'`,
];
