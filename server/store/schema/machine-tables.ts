// Rows of machines, and of the output that they share.

import type { Defaulted } from './column-values.ts';

/** A machine of a fleet: a clone of the repository with its own backend. */
export interface MachineTable {
  id: string;
  name: string;
  /** JSON list: the labels that tasks may require. */
  labels: Defaulted<string>;
  /** working, draining (starts nothing new), left. */
  state: string;
  /** Maximum number of agents there. */
  agents_max: number;
  /** How many of those it can run now: fewer if it is low on memory or disk. */
  room: number;
  /** 1: it may land work and run gates now. */
  lands: Defaulted<number>;
  /** Why it takes less than it could, for people. */
  note: Defaulted<string | null>;
  version: string;
  compatibility: Defaulted<number>;
  /** By the database's clock; null while the shared remote answers there. */
  remote_away_since_ms: Defaulted<number | null>;
  joined_at_ms: number;
  /** By the database's clock. After that it counts as dead, and its tasks are reassigned. */
  alive_until_ms: number;
  /** The state that the feed reported last: here, cut_off, dead, left. */
  reported: Defaulted<string>;
  /** A person's order to its running backend: drain, or release (drain at once); null = none. */
  drain_order: Defaulted<string | null>;
}

/** Which machine of a fleet runs the landing workflow of a branch, or ran the last one. */
export interface LineLanderTable {
  branch: string;
  machine: string;
  workflow: string;
  since_ms: number;
  /** Null while it lands. */
  ended_ms: number | null;
  /** 1: a person asked it to release the line to another machine. */
  release_order: Defaulted<number>;
}

/**
 * The logs of a fleet's agents, in parts: each file of a log from its first byte on, without a
 * hole.
 */
export interface LogPartTable {
  /** Relative to the folder of the logs: `attemptLogFile`, one of its segments, or its prompt. */
  file: string;
  /** Place of its first byte in the file. */
  start: number;
  /** Bytes. */
  size: number;
  text: string;
  at_ms: number;
}
