// A single run of a replay.

import type { ReplayTask } from '../../test/replay/plan.ts';
import type { Bench } from '../bench.ts';
import type { Window } from './history.ts';
import type { ReplayMode, ReplayOptions } from './options.ts';

export type ReplayBench = Omit<Bench, 'options'>;

export interface WindowRun {
  readonly mode: ReplayMode;
  readonly window: Window;
  readonly tasks: readonly ReplayTask[];
  readonly options: ReplayOptions;
  /** The critical path of the tasks, including their agents and gates. */
  readonly criticalMs: number;
}
