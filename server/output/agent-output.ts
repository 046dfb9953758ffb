// The output of agents, for readers on other machines of a fleet. A project on one machine has
// nothing to do for it.

import type { FoundLine } from '../agents/kit/log/search-log.ts';
import type { AttemptLog } from '../store/work/attempt-log.ts';

export interface AgentOutput {
  /**
   * Updates the files of a log on this disk if its attempt belongs to another machine; resolves
   * immediately if it is ours. Refuses if they no longer exist.
   */
  beforeRead(log: AttemptLog): Promise<void>;
  /**
   * Keyed by file: the first line with all words (in lower case) of each log that another machine
   * writes, as far as it is stored.
   */
  find(logs: readonly SearchedLog[], words: readonly string[]): Promise<FoundLines>;
  /** Calls back when the log has grown on another machine; returns unsubscribe. */
  onNews(log: AttemptLog, listener: () => void): () => void;
  /** Agents run in this process from now on: their output is stored for others. */
  beginShipping(report: Report): void;
  /**
   * Resolves when all that the log at the path holds now is stored, or when that takes too long.
   */
  flush(path: string): Promise<void>;
  /** Tries once more to store the remaining output. */
  close(): Promise<void>;
}

/** A log by its name relative to the folder of the logs. */
export interface SearchedLog {
  readonly file: string;
  readonly machine: string;
}

export type FoundLines = ReadonlyMap<string, FoundLine>;

type Report = (error: unknown, where: string) => void;

export const noOutput: AgentOutput = {
  beforeRead: async () => {},
  find: async () => new Map(),
  onNews: () => () => {},
  beginShipping: () => {},
  flush: async () => {},
  close: async () => {},
};
