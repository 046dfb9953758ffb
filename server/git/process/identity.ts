// Who commits: the repository's own identity, or Drover where the user has not set one.
// Configuration is never written.

import type { Variables } from './environment.ts';
import type { Signature } from '../slot-port.ts';

/** Variables that stand in for what is not configured. */
export type Identity = Readonly<Record<string, string>>;

const droverName = 'Drover';
const droverEmail = 'drover@localhost';

/** For commits in a repository that no configuration of the user's belongs to. */
export const ownIdentity: Identity = missingIdentity(new Map(), {});

/**
 * `configured` holds lower-case keys of `git config`. Git would guess from the host's name, or
 * refuse; Drover does neither.
 */
export function missingIdentity(
  configured: ReadonlyMap<string, string>,
  environment: Variables,
): Identity {
  const identity: Record<string, string> = {};
  for (const role of ['author', 'committer'] as const) {
    for (const [part, fallback] of [
      ['name', droverName],
      ['email', droverEmail],
    ] as const) {
      const variable = `GIT_${role.toUpperCase()}_${part.toUpperCase()}`;
      const known =
        environment[variable] ||
        configured.get(`${role}.${part}`) ||
        configured.get(`user.${part}`);
      if (!known) identity[variable] = fallback;
    }
  }
  return identity;
}

/**
 * The variables for one commit; a signature names its author, the committer stays the repository's.
 */
export function identityVariables(
  identity: Identity,
  signature: Signature | null | undefined,
): Record<string, string> {
  if (!signature) return { ...identity };
  return { ...identity, GIT_AUTHOR_NAME: signature.name, GIT_AUTHOR_EMAIL: signature.email };
}
