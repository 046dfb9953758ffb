// The permissions of each kind of token on the fake GitHub, as GitHub's documentation names them
// for each request.

import type { Refused } from './fake-github.ts';

/**
 * `classic`: with scopes, for a person with write access. `fine_grained`: all permissions that
 * GitHub offers for such a token, which exclude check runs. `read_only`: the same without write
 * permissions.
 */
export type TokenKind = 'classic' | 'fine_grained' | 'read_only';

const notByToken = 'Resource not accessible by personal access token';

/** The first match counts; a request without a match only needs access to the repository. */
const permissions: readonly (readonly [RegExp, string])[] = [
  [/\/git-receive-pack$/u, 'contents=write'],
  [/\/git-upload-pack$/u, 'contents=read'],
  [/^\w+ \/repos\/[^/]+\/[^/]+\/(?:commits\/\w+\/)?check-runs(?:\/|$)/u, 'checks=read'],
  [/^GET .*\/commits\/\w+\/status$/u, 'statuses=read'],
  [/^GET .*\/actions\/(?:runs|jobs)/u, 'actions=read'],
  [/^\w+ .*\/actions\//u, 'actions=write'],
  [/^GET .*\/branches\/[^/]+$/u, 'contents=read'],
  [/^GET .*\/pulls(?:\/|$)/u, 'pull_requests=read'],
  [/^\w+ .*\/pulls(?:\/|$)/u, 'pull_requests=write'],
  [/^GET .*\/(?:issues|milestones)(?:\/|$)/u, 'issues=read'],
  [/^\w+ .*\/issues\//u, 'issues=write'],
];

/** A request such as `GET /repos/o/r/pulls`; for GraphQL, the query. */
export function permissionFor(request: string): string {
  if (/^mutation[^]*(?:mergePull|AutoMerge|enqueuePull)/u.test(request)) return 'contents=write';
  if (request.startsWith('mutation')) return 'pull_requests=write';
  if (/refUpdateRule/u.test(request)) return 'contents=read';
  if (/reviewThreads|on PullRequest/u.test(request)) return 'pull_requests=read';
  // Rules of a branch have the branch in their path.
  if (request.includes('/rules/branches/')) return 'metadata=read';
  return permissions.find(([path]) => path.test(request))?.[1] ?? 'metadata=read';
}

/** Null if such a token may send this request. */
export function refusalOf(kind: TokenKind, request: string): Refused | null {
  const needs = permissionFor(request);
  if (mayDo(kind, needs)) return null;
  const headers = { 'x-accepted-github-permissions': needs };
  return { status: 403, message: notByToken, headers };
}

export function mayDo(kind: TokenKind, needs: string): boolean {
  switch (kind) {
    case 'classic':
      return true;
    case 'fine_grained':
      return needs !== 'checks=read';
    case 'read_only':
      return needs !== 'checks=read' && needs.endsWith('=read');
  }
}

/** Sent with every answer to a classic token. */
export function scopesOf(kind: TokenKind): Readonly<Record<string, string>> {
  return kind === 'classic' ? { 'x-oauth-scopes': 'repo, read:org' } : {};
}

export function queryErrors(type: string, message = notByToken): object {
  return { data: null, errors: [{ type, path: ['node'], message }] };
}
