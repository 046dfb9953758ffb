// What a token of each kind may do on the fake GitHub.

import type { Refused } from './fake-github.ts';

/**
 * `classic`: with scopes, of a person who may write. `fine_grained`: all that GitHub offers for one,
 * which leaves out check runs. `read_only`: a fine-grained one that may write nothing.
 */
export type TokenKind = 'classic' | 'fine_grained' | 'read_only';

const notByToken = 'Resource not accessible by personal access token';

/** Null if such a token may ask this. */
export function refusalOf(kind: TokenKind, method: string, pathname: string): Refused | null {
  if (kind === 'classic') return null;
  const refused = (needs: string): Refused => ({
    status: 403,
    message: notByToken,
    headers: { 'x-accepted-github-permissions': needs },
  });
  if (/\/check-runs(?:\/|$)/u.test(pathname)) return refused('checks=read');
  const isWrite = method !== 'GET' && !pathname.endsWith('/graphql');
  if (kind !== 'read_only' || !isWrite) return null;
  return refused(pathname.includes('/issues/') ? 'issues=write' : 'pull_requests=write');
}

export function mayMutate(kind: TokenKind): boolean {
  return kind !== 'read_only';
}

/** Sent with every answer to a classic token. */
export function scopesOf(kind: TokenKind): Readonly<Record<string, string>> {
  return kind === 'classic' ? { 'x-oauth-scopes': 'repo, read:org' } : {};
}

export function queryErrors(type: string, message = notByToken): object {
  return { data: null, errors: [{ type, path: ['node'], message }] };
}
