// Finds a SQLForge project around a worktree's folder and tells the agent how it may use it.

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type SqlforgeEnvironment =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false };

const fileName = 'sqlforge.yml';
const bytesMax = 256 * 1024;
const foldersMax = 64;

/**
 * The closest `sqlforge.yml`, not above the repository's root. Links and folders do not count.
 * Returns null if none exists.
 */
export function findSqlforge(cwd: string): string | null {
  let folder = cwd;
  for (let count = 0; count < foldersMax; count++) {
    const path = join(folder, fileName);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() === true) return stat.size <= bytesMax ? path : null;
    // At a worktree's root this name is a file, at a repository's root a folder.
    if (existsSync(join(folder, '.git'))) return null;
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return null;
}

/**
 * Accepts only a plain name at the top level. Everything else is refused and never becomes an
 * argument.
 */
export function defaultEnvironment(text: string): SqlforgeEnvironment {
  const line = text.split(/\r?\n/).find((one) => /^default_environment\s*:/.test(one));
  if (line === undefined) return { ok: true, name: 'prod' };
  const value = line.slice(line.indexOf(':') + 1).trim();
  const match = /^(?:"([^"]*)"|'([^']*)'|([^\s#]+(?:\s+[^\s#]+)*))?\s*(?:#.*)?$/.exec(value);
  const name = match === null ? null : (match[1] ?? match[2] ?? match[3] ?? 'prod');
  if (name === null || !/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name)) return { ok: false };
  return { ok: true, name };
}

export function sqlforgeGuidance(cwd: string): string | null {
  const path = findSqlforge(cwd);
  if (path === null) return null;
  const found = defaultEnvironment(readFileSync(path, 'utf8'));
  const environment = found.ok
    ? `Its default environment is ${found.name}${found.name === 'prod' ? ', the production one' : ''}.`
    : 'Its default environment has no usable name: name one yourself.';
  return [
    `This is a SQLForge project (${fileName}). ${environment}`,
    'You may run `sqlforge plan`, `query`, `lineage` and `snapshot` through the shell in its folder.',
    'Never run `sqlforge apply`: it changes the warehouse, and only a person may confirm it. State in your answer what',
    'should be applied, with the plan.',
  ].join('\n');
}
