// The tables of pull requests: their facts, the reactions, and messages that must still be sent.

import type { Defaulted } from './column-values.ts';

/**
 * Identified by the provider's id, because repositories are renamed and issue numbers change with
 * transfers.
 */
export interface ForgeKey {
  provider: string;
  host: string;
  native_id: string;
}

export type ForgeItemState = 'open' | 'merged' | 'closed' | 'stopped';

export interface ForgeItemTable extends ForgeKey {
  slug: string;
  number: number;
  url: string;
  epic_id: string;
  /** The run whose landing created it or last changed it. */
  run_id: string;
  /** The branch on the forge. */
  branch: string;
  base: string;
  /** The commit that Drover last pushed. */
  head_sha: string;
  /** The tree of the merged base and head that passed the gate. */
  tested_tree: string;
  state: ForgeItemState;
  /** Explains why the request waits. */
  note: Defaulted<string | null>;
  created_at_ms: number;
}

export interface ForgeFactTable extends ForgeKey {
  fact: string;
  /** The last value read, as JSON; null = never read. A failed read leaves it unchanged. */
  value: Defaulted<string | null>;
  read_at_ms: Defaulted<number | null>;
  /** Why the latest read failed; null = it succeeded. */
  unread: Defaulted<string | null>;
}

export interface ForgeReactionTable extends ForgeKey {
  /** Identifies a fact: a check and its head, or a thread and its last comment. */
  key: string;
  /** The check or the thread, which may have several rounds. */
  subject: string;
  state: 'delivered' | 'shown';
  /** The task that was created for it. */
  task_id: Defaulted<string | null>;
  at_ms: number;
}

export interface ForgeOutboxTable {
  /** The key is the same each time the request is planned. */
  key: string;
  epic_id: string;
  /** The order in which an epic's requests are sent. */
  position: number;
  kind: string;
  request: string;
  state: 'pending' | 'done' | 'failed' | 'dropped';
  tries: Defaulted<number>;
  next_at_ms: number;
  created_at_ms: number;
  ended_at_ms: Defaulted<number | null>;
  answer: Defaulted<string | null>;
}

/** An issue on the forge that a task or an epic of the plan stands for. */
export interface ForgeIssueTable extends ForgeKey {
  slug: string;
  number: number;
  /** Id of the task or epic. */
  item_id: string;
  /** The last text planned for the issue, as JSON; null = none yet. */
  reported: Defaulted<string | null>;
}

export interface ForgeTables {
  forge_issues: ForgeIssueTable;
  forge_items: ForgeItemTable;
  forge_facts: ForgeFactTable;
  forge_reactions: ForgeReactionTable;
  forge_outbox: ForgeOutboxTable;
}

export const forgeStatements: readonly string[] = [
  `CREATE TABLE forge_items (
    provider TEXT NOT NULL, host TEXT NOT NULL, native_id TEXT NOT NULL, slug TEXT NOT NULL,
    number INTEGER NOT NULL, url TEXT NOT NULL, epic_id TEXT NOT NULL, run_id TEXT NOT NULL,
    branch TEXT NOT NULL, base TEXT NOT NULL, head_sha TEXT NOT NULL, tested_tree TEXT NOT NULL,
    state TEXT NOT NULL, note TEXT, created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (provider, host, native_id)) WITHOUT ROWID`,
  `CREATE TABLE forge_facts (
    provider TEXT NOT NULL, host TEXT NOT NULL, native_id TEXT NOT NULL, fact TEXT NOT NULL,
    value TEXT, read_at_ms INTEGER, unread TEXT,
    PRIMARY KEY (provider, host, native_id, fact)) WITHOUT ROWID`,
  `CREATE TABLE forge_reactions (
    provider TEXT NOT NULL, host TEXT NOT NULL, native_id TEXT NOT NULL, key TEXT NOT NULL,
    subject TEXT NOT NULL, state TEXT NOT NULL, task_id TEXT, at_ms INTEGER NOT NULL,
    PRIMARY KEY (provider, host, native_id, key)) WITHOUT ROWID`,
  `CREATE TABLE forge_outbox (
    key TEXT PRIMARY KEY, epic_id TEXT NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
    request TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    next_at_ms INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
    answer TEXT) WITHOUT ROWID`,
  `CREATE INDEX forge_outbox_due ON forge_outbox(state, epic_id, created_at_ms)`,
];

export const forgeIssueStatements: readonly string[] = [
  `CREATE TABLE forge_issues (
    provider TEXT NOT NULL, host TEXT NOT NULL, native_id TEXT NOT NULL, slug TEXT NOT NULL,
    number INTEGER NOT NULL, item_id TEXT NOT NULL, reported TEXT,
    PRIMARY KEY (provider, host, native_id)) WITHOUT ROWID`,
];
