// Runs a small script of ours around several git processes, which asks this process questions while
// it runs. The script outlives this process, and ends what it has started, or takes it back.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { endOfProgram } from '../../platform/run-to-end.ts';
import { gitOutput, limitsOf, type GitOutput, type GitRequest } from './run-once.ts';

export interface GitDialog {
  /** A constant text for `/bin/sh`. Behind its own arguments come git's program and settings. */
  readonly script: string;
  readonly args: readonly string[];
  /** The answer to a line that the script prints; null: it expects none. */
  readonly answer: (line: string) => Promise<string | null>;
}

/** The output is what the script has printed; without an answer it reads the end of its input. */
export async function runDialog(request: GitRequest, dialog: GitDialog): Promise<GitOutput> {
  const args = ['-c', dialog.script, 'drover-git', ...dialog.args, request.binary];
  const child = spawn('/bin/sh', [...args, ...request.args], {
    cwd: request.cwd,
    env: { ...request.environment, ...request.addedEnvironment },
    stdio: 'pipe',
    // A Ctrl-C at a worker reaches its whole process group.
    detached: true,
  });
  const end = endOfProgram(child, limitsOf(request, null));
  createInterface({ input: child.stdout }).on('line', (line) => {
    void reply(child.stdin, dialog, line);
  });
  return gitOutput(request, await end);
}

async function reply(stdin: Writable, dialog: GitDialog, line: string): Promise<void> {
  try {
    const answer = await dialog.answer(line);
    if (answer !== null) stdin.write(`${answer}\n`);
  } catch {
    stdin.end();
  }
}
