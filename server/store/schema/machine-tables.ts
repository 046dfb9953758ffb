// The rows of machines and of the output that they share.

import type { Defaulted } from './column-values.ts';

/** A machine of a fleet: a clone of the repository with its own backend. */
export interface MachineTable {
  id: string;
  name: string;
  /** JSON list of the labels that tasks may require. */
  labels: Defaulted<string>;
  /** `working`, `draining` (starts nothing new) or `left`. */
  state: string;
  /** Maximum number of agents on it. */
  agents_max: number;
  /** Number of further agents that it can run now; lower if memory or disk space is low. */
  room: number;
  /** 1 if it may land work and run gates now. */
  lands: Defaulted<number>;
  /** For people: why it accepts fewer tasks than it could. */
  note: Defaulted<string | null>;
  version: string;
  compatibility: Defaulted<number>;
  /** By the database's clock; null while the machine reaches the shared remote. */
  remote_away_since_ms: Defaulted<number | null>;
  joined_at_ms: number;
  /** By the database's clock. After this time it counts as dead and its tasks are reassigned. */
  alive_until_ms: number;
  /** The state that the feed last reported: here, cut_off, dead, left. */
  reported: Defaulted<string>;
  /** A person's order to its running backend: drain or release (drain at once); null = none. */
  drain_order: Defaulted<string | null>;
}

/** The machine of a fleet that runs the landing workflow of a branch, or that ran the last one. */
export interface LineLanderTable {
  branch: string;
  machine: string;
  workflow: string;
  since_ms: number;
  /** Null while it lands. */
  ended_ms: number | null;
  /** 1 if a person asked it to release the line to another machine. */
  release_order: Defaulted<number>;
}

/**
 * The logs of a fleet's agents in parts. The parts of a file are contiguous and start at its first
 * byte.
 */
export interface LogPartTable {
  /** Relative to the log folder: `attemptLogFile`, one of its segments, or its prompt. */
  file: string;
  /** Offset of its first byte in the file. */
  start: number;
  /** In bytes. */
  size: number;
  text: string;
  at_ms: number;
}
