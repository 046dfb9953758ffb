// A repository on this machine's disk, as other parts of the backend that know it is local see it.

import type { RepositoryContext } from './context.ts';
import type { GitRepository, GitResult } from './port.ts';
import type { Sha } from './sha.ts';

/** Folders and files of the machine, and their places for a confined program. */
export interface LentGit {
  /** The path of the shared git folder, which `folder` takes the place of. */
  readonly commonDir: string;
  readonly folder: string;
  /**
   * Private folder of the worktree: HEAD, index. The program sees it below the shared folder, as
   * usual.
   */
  readonly gitDir: string;
  /** Files in it that the program may read only. */
  readonly fixedFiles: readonly string[];
  /** A folder in it that the program is not to see: it has the same files elsewhere. */
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
  /** Settings of git, as it had them at the start, that can cost work. */
  readonly warnings: readonly string[];
  /**
   * The oldest commit on the first-parent line of HEAD; null before the first one, and in a shallow
   * history.
   */
  rootCommit(): Promise<Sha | null>;
  /**
   * Whether a commit of this id is in the repository, or may be beyond the end of a history that is
   * cut off.
   */
  mayHold(commit: Sha): Promise<boolean>;
  /** Whether a commit brings any of these files or folders, named from the root. */
  tracksAny(paths: readonly string[]): Promise<boolean>;
  /** A git folder for a confined program in this worktree. */
  lend(path: string): Promise<GitResult<LentGit>>;
  takeBack(path: string): Promise<GitResult<void>>;
  /** Worktrees with lent objects that are not imported yet. */
  lent(): readonly string[];
}
