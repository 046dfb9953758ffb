// Watches for silence of one run's program: first a note in its log, then a reason to stop it if
// the model's provider is silent.

import type { AgentRun } from './agent-run.ts';
import { lastStoodMs } from '../process/process-table.ts';
import { SilenceWatch } from '../process/silence.ts';

export interface StallOptions {
  /** The sentence for the log. */
  readonly note: (seconds: number) => string;
  /** Null if silence alone does not end this program. */
  readonly onEnd: (() => void) | null;
  /** Defaults to the request's value. */
  readonly warnMs?: number;
}

export function watchStall(
  { request, record, deps }: Pick<AgentRun, 'request' | 'record' | 'deps'>,
  { note, onEnd, warnMs }: StallOptions,
): SilenceWatch {
  return new SilenceWatch({
    warnMs: warnMs ?? request.stallWarnMs,
    endMs: onEnd === null ? null : request.stallEndMs,
    onWarn: (ms) =>
      record.emit({ type: 'note', level: 'warning', text: note(Math.round(ms / 1000)) }),
    onEnd: () => onEnd?.(),
    quietUntilMs: () => Math.max(lastStoodMs(request.runId), deps.awake?.wokeAtMs() ?? 0),
  });
}
