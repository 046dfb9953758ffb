// The context of every part of the benchmark.

import type { Programs } from './bundle.ts';
import type { BenchOptions } from './options.ts';

export interface Bench {
  readonly options: BenchOptions;
  readonly programs: Programs;
  /** Folder of all repositories and runs. */
  readonly folder: string;
  /** Prints progress for a person. */
  say(text: string): void;
}
