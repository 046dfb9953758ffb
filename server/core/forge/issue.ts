// The fields of a forge's issue that a plan uses. All of its text is untrusted.

export interface Repository {
  /** `github.com`, or the host of a self-hosted server. */
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export interface IssueRef {
  /** `owner/name`. */
  readonly slug: string;
  readonly number: number;
}

export interface Blocker extends IssueRef {
  readonly title: string;
  readonly isOpen: boolean;
}

export interface Issue extends Blocker {
  /** The provider's id, which survives a transfer of the issue. */
  readonly nativeId: string;
  readonly body: string;
  readonly url: string;
  readonly author: string;
  readonly labels: readonly string[];
  /** User names. */
  readonly assignees: readonly string[];
  /** Its parent issue. */
  readonly parent: IssueRef | null;
  readonly blockedBy: readonly Blocker[];
}

/** `owner/name#12`. */
export function issueName({ slug, number }: IssueRef): string {
  return `${slug}#${number}`;
}

const names = /^[A-Za-z0-9_.-]{1,100}$/u;

/**
 * The repository that a git remote refers to: `https://host/owner/name.git`,
 * `ssh://git@host/owner/name` or `git@host:owner/name.git`. Returns null for other kinds of
 * remotes.
 */
export function repositoryOfRemote(url: string): Repository | null {
  const short = /^(?:[^/@:]+@)?([^/:]+):([^/].*)$/u.exec(url);
  const long = /^(?:https?|ssh|git):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+)$/u.exec(url);
  const [, host, path] = long ?? short ?? [];
  if (host === undefined || path === undefined) return null;
  return repositoryOfSlug(path.replace(/\/$/u, '').replace(/\.git$/u, ''), host.toLowerCase());
}

/** Returns null if the slug is not `owner/name`. */
export function repositoryOfSlug(slug: string, host: string): Repository | null {
  const [owner = '', name = '', ...more] = slug.split('/');
  const isNamed = [owner, name].every((part) => names.test(part) && !/^\.{1,2}$/u.test(part));
  return isNamed && more.length === 0 ? { host, owner, name } : null;
}
