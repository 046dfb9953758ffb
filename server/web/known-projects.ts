// This user's projects on this machine. Each backend writes one file when it starts, so two
// backends never overwrite each other's entry.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { listNames, readText } from '../files/small-files.ts';
import { replaceFile } from '../files/write-whole.ts';
import type { WebProject } from '../protocol/web/wire.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const fileName = /^[0-9a-f]{12}\.json$/u;

/** A folder of `drover` in the user's state folder. */
export function stateFolder(env: Environment, name: string): string {
  const base = env['XDG_STATE_HOME'] ?? '';
  const home = env['HOME'] ?? homedir();
  return join(base === '' ? join(home, '.local', 'state') : base, 'drover', name);
}

/** Adds the project to the list, and drops projects whose folder no longer exists. */
export function registerProject(
  env: Environment,
  root: string,
  report: (error: unknown, doing: string) => void,
): void {
  try {
    const folder = stateFolder(env, 'projects');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of listNames(folder)) {
      const isGone = fileName.test(name) && projectIn(join(folder, name)) === null;
      if (isGone) rmSync(join(folder, name), { force: true });
    }
    replaceFile(join(folder, `${idFor(root)}.json`), `${JSON.stringify({ root })}\n`);
  } catch (error) {
    report(error, 'listing the project for drover web');
  }
}

/** Existing projects: `own` first, the others by name. */
export function knownProjects(env: Environment, own: string): readonly WebProject[] {
  const folder = stateFolder(env, 'projects');
  const others = listNames(folder)
    .filter((name) => fileName.test(name))
    .map((name) => projectIn(join(folder, name)))
    .filter((project) => project !== null && project.root !== own) as WebProject[];
  return [projectAt(own), ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}

/** Returns null if the file is broken or its project no longer exists. */
function projectIn(file: string): WebProject | null {
  try {
    const { root } = Object(JSON.parse(readText(file) ?? '')) as { root?: unknown };
    const isKnown = typeof root === 'string' && existsSync(join(root, '.drover'));
    return isKnown ? projectAt(root) : null;
  } catch {
    return null;
  }
}

function projectAt(root: string): WebProject {
  return { id: idFor(root), name: basename(root), root };
}

function idFor(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 12);
}
