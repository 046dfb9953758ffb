// The information that the fake GitHub returns about the repository, the user and itself.

import { ownLogin } from './issue-writes.ts';
import type { PullAnswer } from './pulls.ts';
import type { PublishedSchema, Release } from './published-schema.ts';

export interface RepositoryState {
  readonly repository: {
    /** The owner of the token. */
    user: string;
    isArchived: boolean;
    mayPush: boolean;
    methods: readonly ('merge' | 'squash' | 'rebase')[];
  };
}

export const freshRepository = (): RepositoryState['repository'] => ({
  user: ownLogin,
  isArchived: false,
  mayPush: true,
  methods: ['merge', 'squash', 'rebase'],
});

/** Null if the path concerns something else. */
export function answerAbout(
  pathname: string,
  { repository }: RepositoryState,
  { schema, release }: { readonly schema: PublishedSchema; readonly release: Release },
): PullAnswer | null {
  const sample = (name: string): object => schema.sample(name) as object;
  if (pathname === '/user')
    return { status: 200, body: { ...sample('public-user'), login: repository.user } };
  if (pathname === '/meta') {
    const version = release.replace('ghes-', '');
    const own = release === 'api.github.com' ? {} : { installed_version: `${version}.2` };
    return { status: 200, body: { ...sample('api-overview'), ...own } };
  }
  const [, slug] = /^\/repos\/([^/]+\/[^/]+)$/u.exec(pathname) ?? [];
  if (slug === undefined) return null;
  const { isArchived, mayPush, methods } = repository;
  const body = {
    ...sample('full-repository'),
    full_name: slug,
    archived: isArchived,
    permissions: { admin: false, pull: true, push: mayPush },
    allow_merge_commit: methods.includes('merge'),
    allow_squash_merge: methods.includes('squash'),
    allow_rebase_merge: methods.includes('rebase'),
  };
  return { status: 200, body };
}
