// A person's switches for the pull request of one epic. Pure.

import type { MergeMode } from './pull-facts.ts';

export interface PullSwitches {
  /** Whether it is read at all. */
  readonly watch: boolean;
  /** Whether agents get its red checks, threads and conflicts. */
  readonly fix: boolean;
  /** The settings of its run decide if this is null. */
  readonly merge: MergeMode | null;
}

const usual: PullSwitches = { watch: true, fix: true, merge: null };

/** `stored` is null if nothing was ever switched. */
export function readSwitches(stored: Partial<PullSwitches> | null): PullSwitches {
  return { ...usual, ...stored };
}
