// A `sqlforge` that precedes the real one in an agent's PATH and passes on everything except
// `apply`. Only a person may change the warehouse.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProgram } from '../kit/process/find-program.ts';

export const programName = 'sqlforge';
const refusedMax = 20;
/** sysexits.h: no permission. */
const refusedCode = 77;

interface ShimFiles {
  readonly folder: string;
  readonly notes: string;
}

/** Stored beside the log, never in the worktree. */
function filesOf(logPath: string): ShimFiles {
  return { folder: `${logPath}.bin`, notes: `${logPath}.refused` };
}

/** The agent's environment with the shim first in its path. */
export function placeShim(
  logPath: string,
  env: Readonly<Record<string, string>>,
  baseDir: string,
): Readonly<Record<string, string>> {
  const { folder, notes } = filesOf(logPath);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const real = findProgram(programName, env, baseDir);
  writeFileSync(join(folder, programName), script(real, notes), { mode: 0o700 });
  const path = env['PATH'] ?? '';
  return { ...env, PATH: path === '' ? folder : `${folder}${delimiter}${path}` };
}

/** Returns the refused commands, one line each and limited in number, and removes the shim. */
export function takeRefused(logPath: string): readonly string[] {
  const { folder, notes } = filesOf(logPath);
  const refused = readRefused(notes);
  rmSync(folder, { recursive: true, force: true });
  rmSync(notes, { force: true });
  return refused;
}

function script(real: string | null, notes: string): string {
  const pass =
    real === null ? `echo "sqlforge was not found" >&2\nexit 127` : `exec ${quoted(real)} "$@"`;
  return `#!/bin/sh
for word in "$@"; do
  if [ "$word" = apply ]; then
    printf '%s\\n' "sqlforge $*" >> ${quoted(notes)}
    echo "Drover refused 'sqlforge apply': it changes the warehouse, and only a person may do that (drover sqlforge apply)." >&2
    exit ${refusedCode}
  fi
done
${pass}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function readRefused(path: string): readonly string[] {
  try {
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.slice(0, refusedMax).map((line) => line.slice(0, 200));
  } catch {
    return [];
  }
}
