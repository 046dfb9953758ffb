// Which programs git's configuration may name: those that it named when the repository was opened.
// Later entries, written by an agent or by a program that an agent has started, are overridden on
// the command line of every call.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from './environment.ts';

/**
 * Keys, as git prints them, whose values git starts, loads, or takes objects and other
 * configuration from.
 */
const namesPrograms =
  /^(?:filter\..*\.(?:clean|smudge|process|required)|merge\..*\.(?:driver|recursive)|diff\..*\.(?:command|textconv)|diff\.external|core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand|attributesfile|excludesfile|editor|pager)|gpg\.program|gpg\..*\.program|credential\.(?:.*\.)?helper|remote\..*\.(?:promisor|partialclonefilter|uploadpack|receivepack|vcs|proxy)|extensions\.partialclone|protocol\.(?:.*\.)?allow|url\..*\.(?:insteadof|pushinsteadof)|trailer\..*\.(?:command|cmd)|submodule\..*\.update|uploadpack\.packobjectshook)$/;

const boundKeys = 512;

export type Configuration = ReadonlyMap<string, string>;

/** Reads the configuration that git sees in a git folder now; null where git can't. */
export type ReadConfiguration = (gitDir: string) => Promise<Configuration | null>;

export class TrustedConfig {
  readonly #commonDir: string;
  readonly #read: ReadConfiguration;
  readonly #trusted: Configuration;
  readonly #seen = new Map<
    string,
    { readonly signature: string; readonly args: readonly string[] }
  >();
  readonly #signature: string;

  constructor(commonDir: string, trusted: Configuration, read: ReadConfiguration) {
    this.#commonDir = commonDir;
    this.#trusted = trusted;
    this.#read = read;
    this.#signature = this.#signatureOf(commonDir);
  }

  /**
   * Arguments that override configuration entries that were added since it was trusted; usually
   * none.
   */
  async overrules(gitDir: string): Promise<readonly string[]> {
    const signature = this.#signatureOf(gitDir);
    const isOwn = gitDir !== this.#commonDir && !signature.endsWith('|-');
    if (!isOwn && signature.split('|')[0] === this.#signature.split('|')[0]) return [];
    const known = this.#seen.get(gitDir);
    if (known?.signature === signature) return known.args;
    const now = await this.#read(gitDir);
    const args = now === null ? [] : overrulesFor(this.#trusted, now);
    this.#seen.set(gitDir, { signature, args });
    return args;
  }

  #signatureOf(gitDir: string): string {
    const own = gitDir === this.#commonDir ? '-' : stampOf(join(gitDir, 'config.worktree'));
    return `${stampOf(join(this.#commonDir, 'config'))}|${own}`;
  }
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? '-' : `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** For each key that names a program: its trusted value again, or nothing where it had none. */
export function overrulesFor(trusted: Configuration, now: Configuration): string[] {
  const values: Record<string, string> = {};
  for (const [key, value] of now) {
    if (!namesPrograms.test(key) || trusted.get(key) === value) continue;
    if (Object.keys(values).length >= boundKeys) break;
    values[key] = trusted.get(key) ?? withoutProgram(key);
  }
  return settings(values);
}

function withoutProgram(key: string): string {
  if (key.endsWith('.required') || key.endsWith('.promisor')) return 'false';
  if (key.startsWith('protocol.')) return 'never';
  // An empty driver is an error of git's; this one leaves a conflict, as for a file that cannot be
  // merged.
  if (key.startsWith('merge.')) return 'false';
  if (key.endsWith('.update')) return 'none';
  return '';
}
