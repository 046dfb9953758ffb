// The row that identifies the repository of a plan.

export interface RepositoryTable {
  /** Names the project; the git folder has the same. */
  id: string;
  /**
   * Real path of the git folder that all worktrees share. In a fleet, that of one of the clones.
   */
  common_dir: string;
  /**
   * The oldest commit on the first-parent line. Null if the repository was empty or its history is
   * shallow.
   */
  root_commit: string | null;
}
