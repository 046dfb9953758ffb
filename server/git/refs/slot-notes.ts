// The files with Drover's notes about a slot, in its private git folder, so that they are deleted
// with it. A confined program can write to that folder but not to these files, which control the
// state that the slot's next user gets.

export const slotNotes = {
  /** The attempt whose work is in the slot. */
  owner: 'drover-owner',
  /** Identifies the slot's folder on the disk. */
  folder: 'drover-folder',
  /** Length of the log of the slot's HEAD when its current user came. */
  log: 'drover-log',
  /** Its modification time says when the agent could start, after the setup. */
  start: 'drover-start',
  /** The slot's setup state, and the files that the setup created. */
  setup: 'drover-setup',
  /** The state of submodules after the setup. */
  submodules: 'drover-submodules',
  /** The settings of this worktree, as written by Drover or git. */
  settings: 'drover-config.worktree',
  /**
   * Exists while the files of a new worktree are being written, so that its files are mostly git's
   * own.
   */
  creation: 'drover-creating',
} as const;
