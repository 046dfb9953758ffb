// Pull requests of the fake GitHub, with their checks and reviews.

import type { GitBackend } from './git-backend.ts';
import { autoMergeBody, leaveDeletedBases, mergingAnswer, type MergeState } from './merging.ts';
import type { PublishedSchema } from './published-schema.ts';
import { jobAnswer } from './jobs.ts';
import { reviewList, threadsOn } from './review-lists.ts';
import { branchBody, rulesInForce, type RuleState, updateRule } from './rules.ts';

export interface FakePull {
  slug: string;
  readonly number: number;
  title: string;
  body: string;
  readonly head: string;
  base: string;
  isDraft: boolean;
  state: 'open' | 'closed';
  mergeCommit: string | null;
  /**
   * The head at the time of the merge or closing, because the branch may have been deleted since.
   */
  lastHead: string | null;
  isMergeable: boolean | null;
  /** GitHub merges it as soon as the rules allow it. */
  isAuto: boolean;
  readonly labels: string[];
  readonly reviewers: string[];
}

export interface FakeCheck {
  readonly name: string;
  readonly state: 'success' | 'failure' | 'in_progress';
  /** A job of Actions if absent. */
  readonly by?: 'app' | 'status';
  readonly text?: string;
  /** Of its job. */
  readonly log?: string;
  /** 1 if absent; each run of a job is a job of its own. */
  readonly attempt?: number;
  readonly annotations?: readonly {
    readonly path: string;
    readonly line: number;
    readonly message: string;
  }[];
}

export interface FakeThread {
  readonly id: string;
  /** Absent if there is one pull request. */
  readonly pull?: number;
  isResolved: boolean;
  readonly path: string;
  readonly line: number;
  readonly comments: {
    readonly id: string;
    readonly author: string;
    readonly body: string;
    readonly at: string;
  }[];
}

export interface FakeReview {
  readonly id: string;
  readonly author: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  readonly body: string;
  readonly at: string;
}

export interface PullState extends RuleState, MergeState {
  readonly pulls: FakePull[];
  /** Maps a commit to its checks. */
  readonly checks: Map<string, readonly FakeCheck[]>;
  /** Jobs that were asked to run again. */
  readonly reruns: number[];
  readonly threads: FakeThread[];
  readonly reviews: FakeReview[];
  /** Maps a user to a permission; everyone else may read. */
  readonly permissions: Map<string, 'admin' | 'write' | 'read'>;
}

export interface PullAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly isList?: true;
  /** A path of the host that has logs. */
  readonly location?: string;
}

export interface Asked {
  readonly method: string;
  readonly slug: string;
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  readonly base: string;
}

export function openPull(
  given: Pick<FakePull, 'slug' | 'number' | 'head'> & Partial<FakePull>,
): FakePull {
  return {
    title: 'Work',
    body: '',
    base: 'main',
    isDraft: false,
    state: 'open',
    mergeCommit: null,
    lastHead: null,
    isMergeable: true,
    isAuto: false,
    labels: [],
    reviewers: [],
    ...given,
  };
}

export class FakePulls {
  readonly state: PullState = {
    pulls: [],
    checks: new Map(),
    reruns: [],
    threads: [],
    reviews: [],
    permissions: new Map(),
    required: [],
    rules: [],
    base: { protection: null },
    queue: [],
    mergeRequests: [],
    removed: new Map(),
  };
  readonly #schema: PublishedSchema;
  readonly #git: GitBackend;
  readonly #user: () => string;

  /** `user` is the owner of the token. */
  constructor(schema: PublishedSchema, git: GitBackend, user: () => string) {
    this.#user = user;
    this.#schema = schema;
    this.#git = git;
  }

  /** Returns null if the request concerns something else. */
  answer(asked: Asked): PullAnswer | null {
    const { method, rest, slug } = asked;
    if (rest === 'pulls') return method === 'POST' ? this.#open(asked) : this.#list(asked);
    const [, number, more = ''] = /^pulls\/(\d+)(?:\/(.+))?$/u.exec(rest) ?? [];
    const pull = this.state.pulls.find((one) => one.slug === slug && String(one.number) === number);
    if (pull !== undefined && more === '') return this.#one(asked, pull);
    const said = pull && reviewList(this.state, this.#schema, { number: pull.number, list: more });
    if (said) return said;
    if (pull !== undefined && more === 'requested_reviewers') {
      pull.reviewers.push(
        ...texts(asked.body['reviewers']),
        ...texts(asked.body['team_reviewers']),
      );
      return { status: 201, body: this.#body(asked, pull, 'pull-request-simple') };
    }
    return this.#labels(asked) ?? this.#commits(asked) ?? this.#rules(asked);
  }

  #one(asked: Asked, pull: FakePull): PullAnswer {
    if (asked.method === 'PATCH') {
      const { title, body, base } = asked.body;
      if (typeof title === 'string') pull.title = title;
      if (typeof body === 'string') pull.body = body;
      if (typeof base === 'string') pull.base = base;
    }
    return { status: 200, body: this.#body(asked, pull, 'pull-request') };
  }

  #open(asked: Asked): PullAnswer {
    const { slug, body } = asked;
    const head = String(body['head']);
    const isThere = this.state.pulls.some((one) => one.head === head && one.state === 'open');
    if (isThere || this.#git.tip(slug, head) === null) {
      const message = isThere ? `A pull request already exists for ${head}.` : 'head is invalid';
      return { status: 422, body: validationError(message) };
    }
    const pull = openPull({
      slug,
      number: 41 + this.state.pulls.length,
      title: String(body['title']),
      body: String(body['body']),
      head,
      base: String(body['base']),
      isDraft: body['draft'] === true,
    });
    this.state.pulls.push(pull);
    return { status: 201, body: this.#body(asked, pull, 'pull-request') };
  }

  #list(asked: Asked): PullAnswer {
    const { query, slug } = asked;
    const [owner] = slug.split('/');
    const state = query.get('state') ?? 'open';
    const head = query.get('head');
    const found = this.state.pulls.filter(
      (one) =>
        one.slug === slug &&
        (state === 'all' || one.state === state) &&
        (head === null || head === `${owner}:${one.head}`),
    );
    const body = found.map((pull) => this.#body(asked, pull, 'pull-request-simple'));
    return { status: 200, body };
  }

  #body({ base }: Asked, pull: FakePull, schema: string): object {
    const { slug, number } = pull;
    const head = pull.lastHead ?? this.#git.tip(slug, pull.head) ?? '';
    const sample = this.#schema.sample(schema) as Record<string, Record<string, unknown>>;
    const merged = pull.mergeCommit !== null;
    return {
      ...sample,
      node_id: `PR_${number}`,
      user: { ...(this.#schema.sample('simple-user') as object), login: this.#user() },
      number,
      state: pull.state,
      title: pull.title,
      body: pull.body,
      html_url: `${base}${slug}/pull/${number}`,
      draft: pull.isDraft,
      merged_at: merged ? '2026-11-01T12:00:00Z' : null,
      merge_commit_sha: pull.mergeCommit ?? head,
      head: { ...sample['head'], ref: pull.head, sha: head },
      base: { ...sample['base'], ref: pull.base, sha: this.#git.tip(slug, pull.base) ?? '' },
      auto_merge: pull.isAuto ? autoMergeBody(this.#schema) : null,
      ...(schema === 'pull-request' ? { merged, mergeable: pull.isMergeable } : {}),
    };
  }

  #labels({ rest, body, slug }: Asked): PullAnswer | null {
    const [, number] = /^issues\/(\d+)\/labels$/u.exec(rest) ?? [];
    const pull = this.state.pulls.find((one) => one.slug === slug && String(one.number) === number);
    if (pull === undefined) return null;
    pull.labels.push(...texts(body['labels']));
    const label = this.#schema.sample('label') as object;
    return { status: 200, body: pull.labels.map((name) => ({ ...label, name })) };
  }

  #commits({ rest, base, slug, query, method }: Asked): PullAnswer | null {
    const [, sha = '', what] = /^commits\/([0-9a-f]+)\/(check-runs|status)$/u.exec(rest) ?? [];
    const checks = this.state.checks.get(sha) ?? [];
    if (what === 'status') {
      const sample = this.#schema.sample('combined-commit-status') as object;
      const status = this.#schema.sample('simple-commit-status') as object;
      const statuses = checks
        .filter(({ by }) => by === 'status')
        .map(({ name, state, text }) => {
          const own = state === 'in_progress' ? 'pending' : state;
          return { ...status, context: name, state: own, description: text ?? null };
        });
      return { status: 200, body: { ...sample, sha, statuses } };
    }
    return jobAnswer(this.state, this.#schema, { rest, method, query, page: `${base}${slug}` });
  }

  #rules({ rest, slug }: Asked): PullAnswer | null {
    const [, login] = /^collaborators\/([^/]+)\/permission$/u.exec(rest) ?? [];
    if (login !== undefined) {
      const sample = this.#schema.sample('repository-collaborator-permission') as object;
      const permission = this.state.permissions.get(login) ?? 'read';
      return { status: 200, body: { ...sample, permission } };
    }
    if (rest.startsWith('rules/branches/'))
      return { status: 200, body: rulesInForce(this.state), isList: true };
    const [, branch] = /^branches\/(.+)$/u.exec(rest) ?? [];
    if (branch === undefined) return null;
    const parts = { schema: this.#schema, git: this.#git, state: this.state };
    const body = branchBody(parts, slug, branch);
    return body === null ? null : { status: 200, body };
  }

  afterPush(slug: string): void {
    leaveDeletedBases({ state: this.state, git: this.#git }, slug);
  }

  /** The answers to the few queries, which the schema has already checked. */
  graphql(query: string, variables: Readonly<Record<string, unknown>>): object {
    const parts = { state: this.state, git: this.#git };
    return mergingAnswer(parts, query, variables) ?? { data: this.#node(query, variables) };
  }

  #node(query: string, variables: Readonly<Record<string, unknown>>): object {
    const { id } = variables;
    if (query.includes('pullRequests(first: 1)'))
      return { repository: { pullRequests: { nodes: [] } } };
    if (query.includes('refUpdateRule'))
      return { repository: { ref: { refUpdateRule: updateRule(this.state) } } };
    if (query.includes('markPullRequestReadyForReview')) {
      const pull = this.state.pulls.find(({ number }) => id === `PR_${number}`);
      if (pull !== undefined) pull.isDraft = false;
      return { markPullRequestReadyForReview: { pullRequest: { id, isDraft: false } } };
    }
    if (query.includes('addPullRequestReviewThreadReply')) {
      const thread = this.state.threads.find((one) => one.id === id);
      const at = new Date().toISOString();
      const comment = { id: `RC_reply_${Math.random()}`, author: 'drover', at };
      thread?.comments.push({ ...comment, body: String(variables['body']) });
      return { addPullRequestReviewThreadReply: { comment: { id: comment.id } } };
    }
    const threads = threadsOn(this.state, Number(String(id).slice('PR_'.length)));
    return {
      node: {
        reviewThreads: {
          nodes: threads.map(({ id: thread, isResolved, path, line, comments }) => {
            const nodes = comments.map(commentNode);
            return { id: thread, isResolved, path, line, comments: { nodes } };
          }),
        },
        latestOpinionatedReviews: {
          nodes: this.state.reviews.map((review) => ({
            ...commentNode(review),
            state: review.state,
          })),
        },
      },
    };
  }
}

function commentNode({
  id,
  author,
  body,
  at,
}: Pick<FakeReview, 'id' | 'author' | 'body' | 'at'>): object {
  const login = author.replace(/\[bot\]$/u, '');
  const from = { login, __typename: login === author ? 'User' : 'Bot' };
  return { id, url: `#discussion_${id}`, body, updatedAt: at, author: from };
}

export function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function validationError(message: string): object {
  return {
    message: 'Validation Failed',
    documentation_url: 'https://docs.github.com/rest',
    errors: [{ resource: 'PullRequest', code: 'custom', message }],
  };
}
