// Calls `bd` if it is on the PATH: its database is written to the file before a sync reads the
// file, and it imports the file after a sync has written it.

import { access, constants, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { lostParts, type LostPart } from '../core/exchange/beads-base.ts';
import { runToEnd } from '../platform/run-to-end.ts';
import { readPresent, writeWhole } from './shared-file.ts';

export interface BeadsProgram {
  /** Writes the database to the file. Returns an error or null. */
  flush(): Promise<string | null>;
  /**
   * Call before the file is written, because `flush` would undo the write until `take` succeeds.
   * `take` also removes the labels and edges that the new text lacks.
   */
  willWrite(before: string, after: string): Promise<void>;
  /** Imports the file into the database. Returns an error or null. */
  take(): Promise<string | null>;
}

const callMaxMs = 30_000;
const outputMaxBytes = 64 * 1024 * 1024;

/** Returns null if `bd` is not installed, or if the folder contains only a file and no database. */
export async function beadsProgram(
  file: string,
  place: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BeadsProgram | null> {
  const folder = dirname(file);
  const program = basename(folder) === '.beads' ? await findBd(env) : null;
  if (program === null || !(await hasDatabase(folder))) return null;
  const where = { cwd: dirname(folder), env };
  const call = async (...args: readonly string[]): Promise<string | null> =>
    (await run(program, args, where)).problem;
  const version = await run(program, ['version'], where);
  const major = /(\d+)\.\d+\.\d+/u.exec(version.stdout)?.[1];
  if (major === undefined) return null;
  const isOld = major === '0';
  const pending = `${place}.pending`;
  const take = async (): Promise<string | null> => {
    const problem = isOld ? await call('sync', '--import-only') : await call('import', file);
    // If only labels or edges were removed, the newer version of bd has nothing to import.
    if (problem !== null && !problem.endsWith('nothing to commit')) return problem;
    const left: LostPart[] = [];
    let refused: string | null = null;
    for (const part of await readPending(pending)) {
      const { id, kind, value } = part;
      const words = kind === 'label' ? ['update', id, '--remove-label'] : ['dep', 'remove', id];
      const answer = await call(...words, value);
      // bd also refuses if the issue or the dependency no longer exists.
      if (
        answer === null ||
        !(await run(program, ['show', id, '--json'], where)).stdout.includes(JSON.stringify(value))
      )
        continue;
      left.push(part);
      refused = answer;
    }
    if (refused === null) await rm(pending, { force: true });
    else await writeFile(pending, JSON.stringify(left));
    return refused;
  };
  return {
    take,
    willWrite: async (before, after) => {
      const lost = [...(await readPending(pending)), ...lostParts(before, after)];
      await writeFile(pending, JSON.stringify(lost));
    },
    flush: async () => {
      if ((await stat(pending).catch(() => null)) !== null) {
        const problem = await take();
        if (problem !== null) return problem;
      }
      if (isOld) return call('sync', '--flush-only');
      const { stdout, problem } = await run(program, ['export'], where);
      const present = problem === null ? await readPresent(file) : null;
      // An unchanged file keeps its time, by which a watch detects changes.
      if (problem === null && stdout !== present) await writeWhole(file, stdout, present);
      return problem;
    },
  };
}

/** The labels and edges that a `take` must still remove. */
async function readPending(path: string): Promise<readonly LostPart[]> {
  const text = (await readPresent(path)) ?? '';
  return text === '' ? [] : (JSON.parse(text) as readonly LostPart[]);
}

async function findBd(env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'bd');
    const isProgram =
      folder.startsWith('/') &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ));
    if (isProgram) return path;
  }
  return null;
}

async function hasDatabase(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.some((name) => /\.db$|^(?:embedded)?dolt$/u.test(name));
}

interface Called {
  readonly stdout: string;
  readonly problem: string | null;
}

async function run(
  program: string,
  args: readonly string[],
  where: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<Called> {
  const set = Object.entries(where.env).filter(
    (one): one is [string, string] => one[1] !== undefined,
  );
  const end = await runToEnd({
    program,
    args,
    cwd: where.cwd,
    env: Object.fromEntries(set),
    input: '',
    timeoutMs: callMaxMs,
    signal: null,
    maxOutputBytes: outputMaxBytes,
  });
  const stdout = end.stdout.toString('utf8');
  if (end.problem === null && end.code === 0) return { stdout, problem: null };
  const lines = end.stderr.toString('utf8').trim().split('\n');
  const said = lines.find((line) => line.startsWith('Error')) ?? lines[0] ?? '';
  const why =
    end.problem === 'timeout'
      ? `it did not end within ${callMaxMs / 1000} s`
      : said || `it ended with exit code ${end.code ?? 'none'}`;
  return { stdout, problem: `bd ${args.join(' ')}: ${why}` };
}
