// Waits for a program's end and enforces its limits: our stop signal, its wall time, and the rest
// of its process tree.

import { setTimeout as delay } from 'node:timers/promises';
import type { AgentProcess, EndedTree, ProcessTable } from '../../port.ts';
import type { AwakeTime } from '../../../platform/awake-clock.ts';
import type { AgentEvent } from '../../../protocol/agent-events.ts';
import type { AgentExit } from './spawn.ts';

export type CommonEnd = 'exited' | 'stopped' | 'timeout';

export interface ProgramEnd<Own extends string = never> {
  readonly why: CommonEnd | Own;
  readonly exit: AgentExit;
  /** Null if some of its processes could not be killed, which a warning reports. */
  readonly tree: EndedTree | null;
}

/** A started or adopted program, as seen from outside. */
export interface RunningProgram {
  readonly process: AgentProcess;
  readonly exited: Promise<AgentExit>;
  /** Unix ms. The wall time counts from here, even after an adoption. */
  readonly startedAt: number;
}

export interface SuperviseOptions<Own extends string = never> extends RunningProgram {
  readonly runId: string;
  readonly timeoutMs: number | null;
  readonly processTable: ProcessTable;
  readonly signal: AbortSignal;
  readonly graceMs: number;
  readonly onWarning: (text: string) => void;
  /** Absent if the machine never sleeps. */
  readonly awake?: AwakeTime;
  /** Time that does not count as wall time, because a person was being asked. */
  readonly waitedMs?: () => number;
  /** Resolves with the driver's own reason to end it. */
  readonly ownEnd?: Promise<Own> | undefined;
  /**
   * Asks the program to exit through its protocol. Returns how many milliseconds it gets before the
   * signals.
   */
  readonly askToEnd?: (why: CommonEnd | Own) => number;
}

/** Leftovers of a program that has ended get less time to exit. */
const leftoverGraceMs = 1_000;
/** Node's timers are limited to 31 bits. */
const timerMsMax = 2 ** 31 - 1;

/** When this resolves, no process of the program's tree is left. */
export async function superviseProgram<Own extends string = never>(
  options: SuperviseOptions<Own>,
): Promise<ProgramEnd<Own>> {
  const { runId, processTable, exited } = options;
  const why = await firstEnd(options);
  let hasExited = why === 'exited';
  if (!hasExited && options.askToEnd !== undefined) {
    const askedMs = options.askToEnd(why);
    if (askedMs > 0) hasExited = await isWithin(exited, askedMs);
  }
  let tree: EndedTree | null = null;
  try {
    const graceMs = hasExited ? leftoverGraceMs : options.graceMs;
    tree = await processTable.endTree(runId, options.process, graceMs);
  } catch (error) {
    options.onWarning(error instanceof Error ? error.message : String(error));
  }
  return { why, exit: await exited, tree };
}

/** The log event about the end of a program. */
export function exitEvent({ why, exit, tree }: ProgramEnd<string>): AgentEvent {
  const { left = null, ended = 0 } = tree ?? {};
  return {
    type: 'exit',
    ...exit,
    ...(why === 'stopped' ? { stopped: true } : {}),
    ...(left === null ? {} : { left }),
    // The count is omitted for a program that was itself killed, because it includes that program.
    ...(why === 'exited' && ended > 0 ? { ended } : {}),
  };
}

async function isWithin(event: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
  const inTime = await Promise.race([event.then(() => true), late]);
  timer.abort();
  return inTime;
}

function firstEnd<Own extends string>(options: SuperviseOptions<Own>): Promise<CommonEnd | Own> {
  const { signal, timeoutMs } = options;
  const nowMs = options.awake?.nowMs ?? (() => performance.now());
  // Sleep counts only from before this process followed the program.
  const startedAtMs = nowMs() - (Date.now() - options.startedAt);
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | null = null;
    const end = (why: CommonEnd | Own): void => {
      if (timer !== null) clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(why);
    };
    const onAbort = (): void => end('stopped');
    if (signal.aborted) {
      end('stopped');
      return;
    }
    signal.addEventListener('abort', onAbort);
    const look = (): void => {
      const waitedMs = options.waitedMs?.() ?? 0;
      const leftMs = startedAtMs + (timeoutMs ?? 0) + waitedMs - nowMs();
      if (leftMs <= 0) end('timeout');
      else timer = setTimeout(look, Math.min(leftMs, timerMsMax));
    };
    if (timeoutMs !== null) look();
    void options.exited.then(() => end('exited'));
    void options.ownEnd?.then(end);
  });
}
