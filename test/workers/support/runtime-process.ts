// The worker runtime as a separate process on a loopback port, with a workspace in a folder of the
// test.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { droverProgram } from '../../e2e/support/program.ts';
import { startProgram, type RunningProgram } from '../../e2e/support/run-program.ts';
import { removeFolder } from '../../remove-folder.ts';

export interface RuntimeProcess {
  readonly url: string;
  readonly token: string;
  /** Of the test; the workspace is in it. */
  readonly folder: string;
  readonly workspace: string;
  readonly program: RunningProgram;
}

export interface RuntimeStart {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const limitMs = 120_000;
export const runtimeToken = 'a-secret-of-the-test';

/** The one file that is copied to hosts. */
export function runtimeProgram(): string {
  return join(dirname(droverProgram()), 'worker-runtime.cjs');
}

/** Registers the teardown: processes that a test has started end with it. */
export function useRuntimes(): (start?: RuntimeStart) => Promise<RuntimeProcess> {
  let running: RuntimeProcess[] = [];
  teardown(async () => {
    const ending = running;
    running = [];
    for (const { program } of ending) program.signal('SIGTERM');
    await Promise.allSettled(ending.map(({ program }) => program.ended));
    for (const { folder } of ending) removeFolder(folder);
  });
  return async (start = {}) => {
    const runtime = await startRuntime(start);
    running.push(runtime);
    return runtime;
  };
}

async function startRuntime({ args = [], env = {} }: RuntimeStart): Promise<RuntimeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-runtime-'));
  const workspace = join(folder, 'workspace');
  const where = ['--listen', '127.0.0.1:0', '--workspace', workspace, '--json'];
  const program = startProgram({
    program: process.execPath,
    args: [runtimeProgram(), ...where, ...args],
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      TMPDIR: folder,
      AGENT_TOKEN: runtimeToken,
      DROVER_TEST: '1',
      ...env,
    },
    timeoutMs: limitMs,
  });
  const line = await program.line((text) => text.includes('listening'));
  const { url } = JSON.parse(line) as { url: string };
  return { url, token: runtimeToken, folder, workspace, program };
}
