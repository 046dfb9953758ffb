// Who commits: the repository's identity, else that of the environment, else Drover. Never writes
// configuration.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Variables } from './environment.ts';
import type { Signature } from '../slot-port.ts';

/** Variables that replace missing configuration. */
export type Identity = Readonly<Record<string, string>>;

const identityKey = /^(?:user|author|committer)\.(?:name|email)$/;
const droverName = 'Drover';
export const droverEmail = 'drover@localhost';

/** For commits in a repository without any of the user's configuration. */
export const ownIdentity: Identity = missingIdentity(new Map(), {});

/**
 * `configured` contains lower-case keys of `git config`. The environment's identity is used only if
 * the configuration has none. Git would guess from the host name or refuse; Drover does neither.
 */
export function missingIdentity(
  configured: ReadonlyMap<string, string>,
  environment: Variables,
): Identity {
  const identity: Record<string, string> = {};
  const isConfigured = [...configured.keys()].some((key) => identityKey.test(key));
  for (const role of ['author', 'committer'] as const) {
    for (const [part, fallback] of [
      ['name', droverName],
      ['email', droverEmail],
    ] as const) {
      const variable = `GIT_${role.toUpperCase()}_${part.toUpperCase()}`;
      const known = configured.get(`${role}.${part}`) || configured.get(`user.${part}`);
      const own = isConfigured ? undefined : environment[variable];
      if (!known) identity[variable] = own || fallback;
    }
  }
  return identity;
}

/**
 * Variables for one commit. A signature sets its author; the committer is always the repository's.
 */
export function identityVariables(
  identity: Identity,
  signature: Signature | null | undefined,
): Record<string, string> {
  if (!signature) return { ...identity };
  return { ...identity, GIT_AUTHOR_NAME: signature.name, GIT_AUTHOR_EMAIL: signature.email };
}

/** Author and committer as in a commit: `Name <email>`. */
export interface Signatures {
  readonly author: string;
  readonly committer: string;
}

/** Who makes a repository's commits. */
export interface Committer {
  /** Added to the environment of a git that commits. */
  readonly missing: Identity;
  /** Returns false once a configuration file has changed since it was read. */
  readonly isCurrent: () => boolean;
}

export function resolveCommitter(
  commonDir: string,
  configured: ReadonlyMap<string, string>,
  environment: Variables,
): Committer {
  const files = configurationFiles(commonDir, environment);
  const stamp = stampOf(files);
  const isCurrent = (): boolean => stampOf(files) === stamp;
  return { missing: missingIdentity(configured, environment), isCurrent };
}

function configurationFiles(commonDir: string, environment: Variables): string[] {
  const home = environment['HOME'] ?? '';
  const settings = environment['XDG_CONFIG_HOME'] || join(home, '.config');
  return [
    join(commonDir, 'config'),
    join(commonDir, 'config.worktree'),
    environment['GIT_CONFIG_GLOBAL'] || join(home, '.gitconfig'),
    join(settings, 'git', 'config'),
  ];
}

function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
      return stats === undefined ? '-' : `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
    })
    .join(' ');
}
