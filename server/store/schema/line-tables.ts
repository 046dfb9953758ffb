// The statements that add to the tables of lines.

/** The eighth version: tips that Drover wrote into the refs of its lines, and held lines. */
export const lineStatements: readonly string[] = [
  `CREATE TABLE line_tips (
    branch TEXT NOT NULL, sha TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (branch, sha)) WITHOUT ROWID`,
  `INSERT INTO line_tips (branch, sha, at_ms) SELECT branch, landed_sha, 0 FROM lines`,
  `ALTER TABLE lines ADD COLUMN held_reason TEXT`,
  `ALTER TABLE lines ADD COLUMN held_since_ms INTEGER`,
  `ALTER TABLE lines ADD COLUMN dropped TEXT NOT NULL DEFAULT '[]'`,
];

/** States of branches and checkouts that are reported until a person cures them. */
export const wrongStateStatements: readonly string[] = [
  `ALTER TABLE lines ADD COLUMN wrong TEXT NOT NULL DEFAULT '[]'`,
];
