// SQLForge for the user: the project that contains a folder, and its program with the user's
// environment and terminal.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { defaultEnvironment, findSqlforge } from './sqlforge.ts';
import { programName } from './sqlforge-shim.ts';
import { findProgram } from '../kit/process/find-program.ts';
import { Refusal } from '../../core/failure.ts';

export interface SqlforgeProject {
  readonly folder: string;
  /** The project's name of its default environment; null = a name that cannot be used. */
  readonly environment: string | null;
  /**
   * Resolves with the exit code. The output goes to the terminal; with `toStderr`, only to standard
   * error.
   */
  readonly run: (args: readonly string[], toStderr: boolean) => Promise<number>;
}

export function openSqlforge(from: string, env: NodeJS.ProcessEnv): SqlforgeProject {
  const path = findSqlforge(from);
  if (path === null) {
    throw new Refusal(
      'not_found',
      `No sqlforge.yml in ${from} or its parent folders in this repository.`,
    );
  }
  const program = findProgram(programName, env, from);
  if (program === null) {
    throw new Refusal(
      'not_found',
      'The program sqlforge was not found. Install it, or put it on PATH.',
    );
  }
  const folder = dirname(path);
  const named = defaultEnvironment(readFileSync(path, 'utf8'));
  return {
    folder,
    environment: named.ok ? named.name : null,
    run: async (args, toStderr) => {
      const stdio = ['inherit', toStderr ? 2 : 'inherit', 'inherit'] as const;
      const child = spawn(program, [...args], { cwd: folder, env, stdio: [...stdio] });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code ?? 1;
    },
  };
}
