// Watches for silence: a warning first, later the end. Time in which we ourselves owe an answer
// does not count.

export interface SilenceOptions {
  readonly warnMs: number;
  /** Null: silence alone ends nothing. */
  readonly endMs: number | null;
  readonly onWarn: (silentMs: number) => void;
  readonly onEnd: (silentMs: number) => void;
}

export interface SilenceWatch {
  /** A sign of life. */
  touch(): void;
  /** While paused no silence counts; `resume` begins anew. Calls nest. */
  pause(): void;
  resume(): void;
  stop(): void;
}

export function watchSilence(options: SilenceOptions): SilenceWatch {
  let aliveAt = performance.now();
  let hasWarned = false;
  let pauses = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | null = null;

  const schedule = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (isStopped || pauses > 0) return;
    const limitMs = hasWarned ? options.endMs : options.warnMs;
    if (limitMs === null) return;
    timer = setTimeout(look, Math.max(1, aliveAt + limitMs - performance.now()));
  };
  const look = (): void => {
    timer = null;
    const silentMs = Math.round(performance.now() - aliveAt);
    if (!hasWarned && silentMs >= options.warnMs) {
      hasWarned = true;
      options.onWarn(silentMs);
    }
    if (options.endMs !== null && silentMs >= options.endMs) {
      isStopped = true;
      options.onEnd(silentMs);
    }
    schedule();
  };
  const touch = (): void => {
    aliveAt = performance.now();
    // The timer looks at `aliveAt` when it fires: no timer per line is needed, except after a
    // warning.
    if (hasWarned) {
      hasWarned = false;
      schedule();
    }
  };
  schedule();
  return {
    touch,
    pause: () => {
      pauses += 1;
      schedule();
    },
    resume: () => {
      pauses = Math.max(0, pauses - 1);
      touch();
      schedule();
    },
    stop: () => {
      isStopped = true;
      schedule();
    },
  };
}
