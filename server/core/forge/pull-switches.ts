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

/** From the JSON of a row; undefined if nothing was ever switched. */
export function readSwitches(value: string | undefined): PullSwitches {
  return value === undefined ? usual : { ...usual, ...(JSON.parse(value) as object) };
}
