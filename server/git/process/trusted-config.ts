// Which programs git's configuration may name: only those that it named when the repository was
// opened. Entries added later, by an agent or a program that it started, are overridden on the
// command line of every call.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../git-command.ts';
import type { ListedConfig } from './listed-config.ts';

/**
 * Keys, as git prints them, whose values git starts, loads, or takes objects or other configuration
 * from.
 */
const namesPrograms =
  /^(?:filter\..*\.(?:clean|smudge|process|required)|merge\..*\.(?:driver|recursive)|diff\..*\.(?:command|textconv)|diff\.external|core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand|attributesfile|excludesfile|editor|pager)|sequence\.editor|gpg\.program|gpg\..*\.(?:program|defaultkeycommand)|remote\..*\.(?:promisor|partialclonefilter|uploadpack|receivepack|vcs|proxy)|extensions\.partialclone|protocol\.(?:.*\.)?allow|trailer\..*\.(?:command|cmd)|submodule\..*\.update|uploadpack\.packobjectshook|gc\.recentobjectshook)$/s;
/** Git asks all helpers in order; an empty one removes those before it. */
const namesHelpers = /^credential\.(?:.*\.)?helper$/s;
/**
 * Keys that control where git connects, through which proxy, and which identity it accepts. For
 * most of them git reads several values, none of which can be removed.
 */
const leadsElsewhere =
  /^(?:url\..*\.(?:insteadof|pushinsteadof)|http\..*|lfs\.(?:.*\.)?(?:url|pushurl)|remote\..*\.(?:lfsurl|lfspushurl))$/s;
/** A user may add further remotes. Drover uses none of them. */
const isPlaceOfRemote = /^(remote\..*\.)(?:url|pushurl)$/s;
/** Supported since git 2.54. */
const namesHooks = /^hook\.(.*)\.(?:command|event)$/s;

const boundKeys = 512;

type Values = ListedConfig['values'];

/** Reads the configuration that git currently sees in a git folder. Returns null if it cannot. */
export type ReadConfiguration = (gitDir: string) => Promise<ListedConfig | null>;

interface Overrules {
  readonly args: readonly string[];
  /** For commands that run none of the user's hooks. */
  readonly withoutHooks: readonly string[];
  /** A changed key that can redirect git to another address. Null if none has changed. */
  readonly address: string | null;
}

interface Seen {
  readonly signature: string;
  readonly included: readonly string[];
  readonly overrules: Overrules;
}

export class TrustedConfig {
  readonly #commonDir: string;
  readonly #read: ReadConfiguration;
  readonly #trusted: ListedConfig;
  readonly #unchanged: Overrules;
  readonly #signature: string;
  readonly #seen = new Map<string, Seen>();

  constructor(commonDir: string, trusted: ListedConfig, read: ReadConfiguration) {
    this.#commonDir = commonDir;
    this.#trusted = trusted;
    this.#read = read;
    this.#unchanged = buildOverrules(trusted.values, trusted.values);
    this.#signature = this.#signatureOf(commonDir, []);
  }

  /** Arguments that override configuration entries added since the configuration was trusted. */
  async overrules(gitDir: string): Promise<Overrules> {
    if (this.#signatureOf(gitDir, []) === this.#signature) return this.#unchanged;
    const known = this.#seen.get(gitDir);
    if (known !== undefined && this.#signatureOf(gitDir, known.included) === known.signature)
      return known.overrules;
    const now = await this.#read(gitDir);
    if (now === null) return this.#unchanged;
    const overrules = buildOverrules(this.#trusted.values, now.values);
    const signature = this.#signatureOf(gitDir, now.included);
    this.#seen.set(gitDir, { signature, included: now.included, overrules });
    return overrules;
  }

  /** Covers the settings of the repository and the worktree, and their includes. */
  #signatureOf(gitDir: string, included: readonly string[]): string {
    const files = [join(this.#commonDir, 'config'), ...this.#trusted.included, ...included];
    const own = stampOf(join(gitDir, 'config.worktree'));
    return [own, ...files.map(stampOf)].join('|');
  }
}

/** An empty file counts like a missing one. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined || stats.size === 0n) return '';
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** For each key that names a program: its trusted value, or none if it had none. */
export function buildOverrules(trusted: Values, now: Values): Overrules {
  const values: Record<string, string> = {};
  for (const [key, listed] of now) {
    const before = trusted.get(key)?.at(-1);
    if (!namesPrograms.test(key) || before === listed.at(-1)) continue;
    if (Object.keys(values).length >= boundKeys) break;
    values[key] = before ?? withoutProgram(key);
  }
  const isNew = ([key, listed]: readonly [string, readonly string[]]): boolean =>
    trusted.get(key)?.join('\0') !== listed.join('\0');
  const added = [...now].filter(isNew).map(([key]) => key);
  const removed = [...trusted.keys()].filter((key) => !now.has(key));
  const hooks = added.flatMap((key) => namesHooks.exec(key)?.[1] ?? []);
  const args = [...settings(values), ...helpersAgain(trusted, added), ...withoutHook(hooks)];
  const all = [...now.keys()].flatMap((key) => namesHooks.exec(key)?.[1] ?? []);
  return {
    args,
    withoutHooks: withoutHook(all),
    address: [...added, ...removed].find((key) => isOfAddress(trusted, key)) ?? null,
  };
}

function isOfAddress(trusted: Values, key: string): boolean {
  const [, remote] = isPlaceOfRemote.exec(key) ?? [];
  if (remote !== undefined) return trusted.has(`${remote}url`) || trusted.has(`${remote}pushurl`);
  return leadsElsewhere.test(key);
}

/** Restores exactly the trusted helpers, whatever address each is for. */
function helpersAgain(trusted: Values, added: readonly string[]): string[] {
  if (!added.some((key) => namesHelpers.test(key))) return [];
  const helpers = [...trusted].filter(([key]) => namesHelpers.test(key));
  const again = helpers.flatMap(([key, listed]) => listed.map((value) => `${key}=${value}`));
  return ['credential.helper=', ...again].flatMap((setting) => ['-c', setting]);
}

function withoutHook(names: readonly string[]): string[] {
  const unique = [...new Set(names)].slice(0, boundKeys);
  return unique.flatMap((name) => ['-c', `hook.${name}.enabled=false`]);
}

function withoutProgram(key: string): string {
  if (key.endsWith('.required') || key.endsWith('.promisor')) return 'false';
  if (key.startsWith('protocol.')) return 'never';
  // An empty driver is an error in git. This one leaves a conflict, as for a file that cannot be
  // merged.
  if (key.startsWith('merge.')) return 'false';
  if (key.endsWith('.update')) return 'none';
  return '';
}
