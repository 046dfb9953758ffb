// Git's configuration including what a plain list of keys omits: every value of a key, and the
// files that the repository's own settings include.

import { dirname, join, resolve } from 'node:path';

export interface ListedConfig {
  /** Keys in lower case as git prints them; values in git's order. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Files included by the repository or a worktree of it, whether or not they exist. */
  readonly included: readonly string[];
}

export const listArguments = ['config', '-z', '--list', '--show-scope', '--show-origin'];

/** Parses `scope\0origin\0key\nvalue\0`. Git names origins relative to its folder. */
export function parseListed(output: Buffer, cwd: string, home: string): ListedConfig {
  const values = new Map<string, string[]>();
  const included = new Set<string>();
  const parts = output.toString('utf8').split('\0');
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [scope, origin = '', item = ''] = parts.slice(at, at + 3);
    const end = item.indexOf('\n');
    const key = end === -1 ? item : item.slice(0, end);
    const value = end === -1 ? 'true' : item.slice(end + 1);
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
    const isOwn = scope === 'local' || scope === 'worktree';
    if (!isOwn || !/^include(?:if\..*)?\.path$/s.test(key)) continue;
    const from = dirname(resolve(cwd, origin.replace(/^file:/, '')));
    included.add(value.startsWith('~/') ? join(home, value.slice(2)) : resolve(from, value));
  }
  return { values, included: [...included] };
}
