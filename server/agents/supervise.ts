// Waits for a program's end and enforces its limits: our stop signal, wall time, and what is left of its tree.

import type { AgentExit } from './spawn.ts';
import type { AgentProcess, AgentRequest, ProcessTable } from './port.ts';

export type ProgramEnd =
  | { readonly why: 'exited'; readonly exit: AgentExit }
  | { readonly why: 'stopped'; readonly exit: AgentExit }
  | { readonly why: 'timeout'; readonly exit: AgentExit };

export interface SuperviseOptions {
  readonly request: AgentRequest;
  readonly process: AgentProcess;
  readonly exited: Promise<AgentExit>;
  readonly processTable: ProcessTable;
  readonly signal: AbortSignal;
  /** Unix ms; the wall time counts from here, also after an adoption. */
  readonly startedAt: number;
  readonly graceMs: number;
  readonly onWarning: (text: string) => void;
}

/** What a program leaves behind after its own end gets less time to go. */
const leftoverGraceMs = 1_000;

export async function superviseProgram(options: SuperviseOptions): Promise<ProgramEnd> {
  const { request, processTable, exited } = options;
  const why = await firstEnd(options);
  const graceMs = why === 'exited' ? leftoverGraceMs : options.graceMs;
  try {
    await processTable.endTree(request.runId, options.process, graceMs);
  } catch (error) {
    options.onWarning(error instanceof Error ? error.message : String(error));
  }
  const exit = await exited;
  return { why, exit };
}

function firstEnd(options: SuperviseOptions): Promise<ProgramEnd['why']> {
  const { signal, request } = options;
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | null = null;
    const end = (why: ProgramEnd['why']): void => {
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
    if (request.timeoutMs !== null) {
      const leftMs = Math.max(0, options.startedAt + request.timeoutMs - Date.now());
      timer = setTimeout(() => end('timeout'), Math.min(leftMs, timerMsMax));
    }
    void options.exited.then(() => end('exited'));
  });
}

/** Node's timers hold no more than 31 bits. */
const timerMsMax = 2 ** 31 - 1;
