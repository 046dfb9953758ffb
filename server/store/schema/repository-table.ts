// Identifies the repository of a plan.

export interface RepositoryTable {
  /** Identifies the project. The git folder contains the same id. */
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
