// The files beside a part's log: the agent's output, its end and its prompt.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';

export interface RunFiles {
  /** Raw output, which is not masked. Emptied from time to time and removed at the end. */
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code as text, written by the shell around the agent. */
  readonly exit: string;
  /**
   * Exists once Drover has started to stop the agent. From then on, its exit code says nothing
   * about its work.
   */
  readonly stopped: string;
  /** The program's standard input, removed as soon as it is open. */
  readonly input: string;
}

export function runFiles(logPath: string): RunFiles {
  return {
    stdout: `${logPath}.stdout`,
    stderr: `${logPath}.stderr`,
    exit: `${logPath}.exit`,
    stopped: `${logPath}.stopped`,
    input: `${logPath}.stdin`,
  };
}

/** The stored exit code. Null if the agent still runs, or ended without leaving one. */
export function readExitCode(files: Pick<RunFiles, 'exit'>): number | null {
  try {
    const text = readFileSync(files.exit, 'utf8');
    // A file without a line end is still being written.
    return /^\d+\r?\n$/.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}

/**
 * Writes `stopped` when the signal aborts, which stops the agent. An agent with an exit code had
 * already ended by itself, so its work is done and must not be repeated. Returns a function that
 * ends the watch.
 */
export function markWhenStopped(
  signal: AbortSignal,
  files: Pick<RunFiles, 'exit' | 'stopped'>,
): () => void {
  const mark = (): void => {
    if (readExitCode(files) === null) writeFileSync(files.stopped, '');
  };
  if (signal.aborted) mark();
  else signal.addEventListener('abort', mark, { once: true });
  return () => signal.removeEventListener('abort', mark);
}

/** Removes the files that only a running agent needs. The log and the exit code stay. */
export function removeRawFiles(files: RunFiles): void {
  for (const path of [files.stdout, files.stderr, files.input]) rmSync(path, { force: true });
}
