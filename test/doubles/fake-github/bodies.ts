// Issues of the fake GitHub in the format of its answers.

export interface FakeIssue {
  readonly slug: string;
  readonly number: number;
  readonly title: string;
  readonly body?: string | null;
  readonly isClosed?: boolean;
  readonly labels?: readonly string[];
  readonly milestone?: string;
  readonly author?: string;
  readonly assignees?: readonly string[];
  readonly isPullRequest?: boolean;
  /** `owner/name#12`. */
  readonly parent?: string;
  readonly blockedBy?: readonly string[];
}

interface Place {
  readonly base: string;
  /** Whether the release supports sub-issues and dependencies. */
  readonly relations: boolean;
}

const time = '2026-11-01T12:00:00Z';

export function nameOf({ slug, number }: Pick<FakeIssue, 'slug' | 'number'>): string {
  return `${slug}#${number}`;
}

export function childrenOf(issue: FakeIssue, all: readonly FakeIssue[]): readonly FakeIssue[] {
  return all.filter(({ parent }) => parent === nameOf(issue));
}

export function blockersOf(issue: FakeIssue, all: readonly FakeIssue[]): readonly FakeIssue[] {
  return all.filter((one) => issue.blockedBy?.includes(nameOf(one)) === true);
}

/** A GitHub Enterprise server omits fields that its release does not support. */
export function issueBody(
  issue: FakeIssue,
  all: readonly FakeIssue[],
  { base, relations }: Place,
): object {
  const { slug, number, isClosed = false } = issue;
  const api = `${base}api/v3/repos/${slug}`;
  const url = `${api}/issues/${number}`;
  const page = `${base}${slug}/issues/${number}`;
  const children = childrenOf(issue, all);
  const blockers = blockersOf(issue, all);
  const open = blockers.filter((one) => one.isClosed !== true);
  const blocking = all.filter(({ blockedBy = [] }) => blockedBy.includes(nameOf(issue)));
  const [parentSlug, parentNumber] = (issue.parent ?? '').split('#');
  const closed = children.filter((one) => one.isClosed === true).length;
  return {
    id: 1_000 + number,
    node_id: `I_${number}`,
    number,
    title: issue.title,
    body: issue.body ?? null,
    state: isClosed ? 'closed' : 'open',
    locked: false,
    user: userBody(base, issue.author ?? 'lead'),
    assignee: null,
    assignees: (issue.assignees ?? []).map((login) => userBody(base, login)),
    author_association: 'MEMBER',
    labels: (issue.labels ?? []).map((name, index) => ({
      id: index + 1,
      node_id: `L_${index}`,
      url: `${api}/labels/${encodeURIComponent(name)}`,
      name,
      description: null,
      color: 'ededed',
      default: false,
    })),
    milestone: issue.milestone === undefined ? null : milestoneBody(base, slug, issue.milestone, 1),
    comments: 0,
    created_at: time,
    updated_at: time,
    closed_at: isClosed ? time : null,
    url,
    repository_url: api,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    ...(issue.isPullRequest === true
      ? { pull_request: { url, html_url: page, diff_url: page, patch_url: page } }
      : {}),
    ...(issue.parent === undefined || !relations
      ? {}
      : { parent_issue_url: `${base}api/v3/repos/${parentSlug}/issues/${parentNumber}` }),
    ...(relations
      ? {
          sub_issues_summary: {
            total: children.length,
            completed: closed,
            percent_completed: 0,
          },
          issue_dependencies_summary: {
            blocked_by: open.length,
            blocking: blocking.length,
            total_blocked_by: blockers.length,
            total_blocking: blocking.length,
          },
        }
      : {}),
  };
}

export function milestoneBody(base: string, slug: string, title: string, number: number): object {
  const url = `${base}api/v3/repos/${slug}/milestones/${number}`;
  return {
    id: number,
    node_id: `M_${number}`,
    number,
    title,
    state: 'open',
    description: null,
    creator: userBody(base, 'lead'),
    open_issues: 1,
    closed_issues: 0,
    due_on: null,
    closed_at: null,
    created_at: time,
    updated_at: time,
    url,
    html_url: `${base}${slug}/milestone/${number}`,
    labels_url: `${url}/labels`,
  };
}

function userBody(base: string, login: string): object {
  const name = encodeURIComponent(login);
  const url = `${base}api/v3/users/${name}`;
  const urls = [
    'followers',
    'following',
    'gists',
    'starred',
    'subscriptions',
    'organizations',
    'repos',
    'events',
    'received_events',
  ].map((name) => [`${name}_url`, `${url}/${name}`]);
  return {
    login,
    id: 1,
    node_id: 'U_1',
    avatar_url: `${base}avatar`,
    gravatar_id: '',
    html_url: `${base}${name}`,
    url,
    ...Object.fromEntries(urls),
    type: 'User',
    site_admin: false,
  };
}
