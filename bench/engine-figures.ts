// The figures of one engine run, and the command line that starts the run.

import type { Programs } from './bundle.ts';
import { copyOf } from './repositories.ts';

export interface ReadyWait {
  readonly ms: number;
  /** True if the worktree was created for this task, false if it was reused. */
  readonly created: boolean;
}

export interface EngineRun {
  readonly tasks: number;
  readonly completed: number;
  /** Number of retries, failures, conflicts and reviews. */
  readonly troubles: number;
  readonly msPerTask: number;
  /** CPU time of the whole process tree. */
  readonly cpuMsPerTask: number;
  readonly backendCpuMsPerTask: number;
  readonly gitPerTask: number;
  readonly backendRssMb: number;
  readonly ready: readonly ReadyWait[];
  readonly dispatchMs: readonly number[];
}

export interface EngineWish {
  readonly source: string;
  readonly agent: string;
  readonly tasks: number;
  readonly workers: number;
  readonly warm?: number;
  readonly others?: number;
  /** CPU time excludes this many tasks at each end. */
  readonly edge?: number;
  readonly chain?: boolean;
}

/** Runs the engine on a fresh copy of the repository. */
export async function engineRun(
  programs: Programs,
  folder: string,
  request: EngineWish,
): Promise<EngineRun> {
  const copy = copyOf(folder, request.source);
  try {
    return await programs.json<EngineRun>('engine-run', {
      repository: copy.repository,
      home: copy.home,
      agent: request.agent,
      tasks: request.tasks,
      workers: request.workers,
      warm: request.warm ?? 0,
      others: request.others ?? 0,
      edge: request.edge ?? 0,
      chain: request.chain ?? false,
    });
  } finally {
    copy.remove();
  }
}
