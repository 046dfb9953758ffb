// The output of agents for readers on other machines of a fleet. Does nothing for a project on one
// machine.

import type { FoundLine } from '../agents/kit/log/search-log.ts';
import type { AttemptLog } from '../store/work/attempt-log.ts';

export interface AgentOutput {
  /**
   * Updates a log's files on this disk if its attempt belongs to another machine. Resolves at once
   * if it is ours. Refuses if the output no longer exists.
   */
  beforeRead(log: AttemptLog): Promise<void>;
  /**
   * The first line with all words (in lower case) of each log that another machine writes, as far
   * as stored, by file.
   */
  find(logs: readonly SearchedLog[], words: readonly string[]): Promise<FoundLines>;
  /** Calls back when the log has grown on another machine. Returns a function that unsubscribes. */
  onNews(log: AttemptLog, listener: () => void): () => void;
  /** Starts storing the output of agents in this process for others. */
  beginShipping(report: Report): void;
  /** Resolves when everything in the log at the path is stored, or after a time limit. */
  flush(path: string): Promise<void>;
  /** Tries once more to store the remaining output. */
  close(): Promise<void>;
}

/** A log by its name relative to the log folder. */
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
