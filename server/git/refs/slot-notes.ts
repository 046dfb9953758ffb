// The files with Drover's notes about a slot, in the slot's private git folder, so that they go
// with it. A confined program can write that folder, but it never writes these: they control the
// next user's state of the slot.

export const slotNotes = {
  /** Whose work is in the slot. */
  owner: 'drover-owner',
  /** Which folder of the disk the slot is. */
  folder: 'drover-folder',
  /** How long the log of the slot's HEAD was when its user came. */
  log: 'drover-log',
  /** Its time is when the agent could start, after the setup. */
  start: 'drover-start',
  /** Which setup state the slot has, and the files that the setup made. */
  setup: 'drover-setup',
  /** The state of submodules after setup. */
  submodules: 'drover-submodules',
  /** The settings of this worktree alone, as Drover or git wrote them. */
  settings: 'drover-config.worktree',
  /**
   * Present while the files of a new worktree are being written: its files are then mostly git's
   * own.
   */
  creation: 'drover-creating',
} as const;
