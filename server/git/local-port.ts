// A repository on this machine's disk, for parts of the backend that need a local one.

import type { RepositoryContext } from './context.ts';
import type { GitRepository, GitResult } from './port.ts';
import type { Sha } from './sha.ts';

/** Folders and files on this machine, with their paths for a confined program. */
export interface LentGit {
  /** Path of the shared git folder, which `folder` replaces. */
  readonly commonDir: string;
  readonly folder: string;
  /**
   * Private folder of the worktree (HEAD, index). The program sees it below the shared folder, as
   * usual.
   */
  readonly gitDir: string;
  /** Files in it that the program may only read. */
  readonly fixedFiles: readonly string[];
  /** A folder in it that the program must not see, because it has the same files elsewhere. */
  readonly hidden: string;
  readonly objects: string;
  readonly objectsAt: string;
  /** Object folders that the repository itself borrows from. */
  readonly alternates: readonly string[];
  readonly largeFiles: string | null;
}

/** A repository on this machine's disk, with the state that its operations need. */
export interface LocalRepository extends GitRepository {
  readonly context: RepositoryContext;
  /** Warnings about git settings, as of the start, that can cause loss of work. */
  readonly warnings: readonly string[];
  /** The oldest commit on the first-parent line of HEAD; null before the first and if shallow. */
  rootCommit(): Promise<Sha | null>;
  /** Whether the repository has the commit, or may lack it only because its history is shallow. */
  mayHold(commit: Sha): Promise<boolean>;
  /** Whether a commit adds any of these files or folders, relative to the root. */
  tracksAny(paths: readonly string[]): Promise<boolean>;
  /** Creates a git folder for a confined program in this worktree. */
  lend(path: string): Promise<GitResult<LentGit>>;
  takeBack(path: string): Promise<GitResult<void>>;
  /** Worktrees with lent objects that are not imported yet. */
  lent(): readonly string[];
}
