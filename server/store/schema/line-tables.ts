// The tables of lines, and the statements that add them to the schema.

import type { Defaulted } from './column-values.ts';

/** One row per landing line (branch). */
export interface LineTable {
  branch: string;
  landed_sha: string;
  /** The state of the branch that the line includes; null = the branch was never read. */
  followed_sha: Defaulted<string | null>;
  pending: Defaulted<number>;
  pending_reason: Defaulted<string | null>;
  /** For an epic's line, the branch that it started from. */
  parent_branch: Defaulted<string | null>;
  /** Why nothing starts and nothing lands on it until a person decides; null = not held. */
  held_reason: Defaulted<string | null>;
  held_since_ms: Defaulted<number | null>;
  /**
   * JSON list, latest last: tips that users removed from the branch. Landings must not restore
   * their commits.
   */
  dropped: Defaulted<string>;
  /** JSON list of `WrongState`. */
  wrong: Defaulted<string>;
  /** JSON of a `TriedMerge`. */
  tried: Defaulted<string | null>;
}

/**
 * Values that Drover has written, or was about to write, to a line's landing ref. Any other value
 * was written by another program.
 */
export interface LineTipTable {
  branch: string;
  sha: string;
  at_ms: number;
}

/** The gates that a line's landing is running, for people. */
export interface LineGateTable {
  line: string;
  /** JSON list of `RunningGate`, oldest first. */
  gates: string;
}

/** Commits of blockers that landed on another line and that this line now contains. */
export interface ArrivalTable {
  line: string;
  sha: string;
}

/** The eighth version: tips that Drover wrote into the refs of its lines, and held lines. */
export const lineStatements: readonly string[] = [
  `CREATE TABLE line_tips (
    branch TEXT NOT NULL, sha TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (branch, sha)) WITHOUT ROWID`,
  `INSERT INTO line_tips (branch, sha, at_ms) SELECT branch, landed_sha, 0 FROM lines`,
  `ALTER TABLE lines ADD COLUMN held_reason TEXT`,
  `ALTER TABLE lines ADD COLUMN held_since_ms INTEGER`,
  `ALTER TABLE lines ADD COLUMN dropped TEXT NOT NULL DEFAULT '[]'`,
];

/** States of branches and checkouts that are reported until a person fixes them. */
export const wrongStateStatements: readonly string[] = [
  `ALTER TABLE lines ADD COLUMN wrong TEXT NOT NULL DEFAULT '[]'`,
];

/**
 * The 25th version: only `followed_sha` says which state of the branch a line includes, and the
 * line remembers a merge that was tried. Commits that arrived from other lines decide which tasks
 * can start.
 */
export const oneTruthStatements: readonly string[] = [
  `ALTER TABLE lines ADD COLUMN tried TEXT`,
  `UPDATE lines SET followed_sha = (
    SELECT t.sha FROM taken_tips t WHERE t.branch = lines.branch ORDER BY t.at_ms DESC LIMIT 1)
    WHERE pending > 0 AND EXISTS (SELECT 1 FROM taken_tips t WHERE t.branch = lines.branch)`,
  `DROP TABLE taken_tips`,
  `CREATE TABLE arrivals (line TEXT NOT NULL, sha TEXT NOT NULL, PRIMARY KEY (line, sha)) WITHOUT ROWID`,
  `CREATE INDEX tasks_landed_on ON tasks(landed_on) WHERE landed_on IS NOT NULL`,
];

/** Schema version 31 adds the running gates. */
export const lineGateStatements: readonly string[] = [
  `CREATE TABLE line_gates (line TEXT PRIMARY KEY, gates TEXT NOT NULL) WITHOUT ROWID`,
];
