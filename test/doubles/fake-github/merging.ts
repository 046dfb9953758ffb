// Automatic merges and the merge queue of the fake GitHub.

import type { GitBackend } from './git-backend.ts';
import type { PublishedSchema } from './published-schema.ts';
import type { FakePull, PullState } from './pulls.ts';
import { queryErrors } from './rights.ts';

export interface MergeState {
  /**
   * The commit that the merge queue's next merge creates for a pull request; its checks belong to
   * the group.
   */
  readonly queue: FakeEntry[];
  /** Each accepted request: `auto 41`, `queue 41`, `merge 41`. */
  readonly mergeRequests: string[];
  readonly removed: Map<number, string>;
}

export interface FakeEntry {
  readonly number: number;
  readonly groupHead: string;
}

interface Parts {
  readonly state: PullState;
  readonly git: GitBackend;
}

type Variables = Readonly<Record<string, unknown>>;

/** Returns null if the query concerns something else. */
export function mergingAnswer(parts: Parts, query: string, variables: Variables): object | null {
  const pull = parts.state.pulls.find(({ number }) => variables['id'] === `PR_${number}`);
  if (pull === undefined) return null;
  if (query.includes('mergeQueueEntry { position headCommit'))
    return { data: { node: mergingNode(parts, pull) } };
  if (query.includes('enablePullRequestAutoMerge')) return enableAuto(parts, pull, variables);
  if (query.includes('enqueuePullRequest')) return enqueue(parts, pull, variables);
  if (query.includes('mergePullRequest')) return mergeNow(parts, pull, variables);
  return null;
}

function mergingNode({ state }: Parts, { number, isAuto }: FakePull): object {
  const place = state.queue.findIndex((entry) => entry.number === number);
  const entry = state.queue[place];
  const removed = state.removed.get(number);
  return {
    autoMergeRequest: isAuto ? { enabledAt: '2026-11-01T12:00:00Z' } : null,
    mergeQueueEntry:
      entry === undefined ? null : { position: place + 1, headCommit: { oid: entry.groupHead } },
    timelineItems: { nodes: removed === undefined ? [] : [{ reason: removed }] },
    repository: { viewerDefaultMergeMethod: 'MERGE' },
  };
}

function enableAuto(parts: Parts, pull: FakePull, { head, method }: Variables): object {
  if (!isHead(parts, pull, head)) return unprocessable(headChanged);
  if (needsSquash(parts) && method !== 'SQUASH') return unprocessable(notAllowed);
  if (lacks(parts, pull) === null)
    return unprocessable('Pull request Pull request is in clean status');
  pull.isAuto = true;
  parts.state.mergeRequests.push(`auto ${pull.number}`);
  return taken('enablePullRequestAutoMerge', pull);
}

function enqueue(parts: Parts, pull: FakePull, { head }: Variables): object {
  const { state, git } = parts;
  if (!isHead(parts, pull, head)) return unprocessable(headChanged);
  const lack = lacks(parts, pull);
  if (lack !== null) return unprocessable(`Pull request is not mergeable: ${lack}`);
  if (state.queue.some(({ number }) => number === pull.number))
    return unprocessable('The pull request is already in the queue');
  const groupHead = git.group(pull.slug, pull.base, String(head));
  state.removed.delete(pull.number);
  state.queue.push({ number: pull.number, groupHead });
  state.mergeRequests.push(`queue ${pull.number}`);
  const entry = { position: state.queue.length };
  return { data: { enqueuePullRequest: { mergeQueueEntry: entry } } };
}

function mergeNow(parts: Parts, pull: FakePull, { head, method }: Variables): object {
  if (!isHead(parts, pull, head)) return unprocessable(headChanged);
  if (needsSquash(parts) && method !== 'SQUASH') return unprocessable(notAllowed);
  parts.state.mergeRequests.push(`merge ${pull.number}`);
  mergePull(parts, pull, method === 'SQUASH' ? 'squash' : 'merge');
  return taken('mergePullRequest', pull);
}

/** As the REST API shows it on a pull request. */
export function autoMergeBody(schema: PublishedSchema): object {
  const enabled_by = schema.sample('simple-user');
  return { enabled_by, merge_method: 'merge', commit_title: 'Merge', commit_message: '' };
}

const headChanged = 'Head branch was modified. Review and try the merge again.';

export function mergePull(
  { git }: Pick<Parts, 'git'>,
  pull: FakePull,
  how: 'merge' | 'squash' = 'merge',
): void {
  const head = git.tip(pull.slug, pull.head) ?? '';
  const mergeCommit = git.merge(pull.slug, pull.base, head, how);
  Object.assign(pull, { state: 'closed', lastHead: head, mergeCommit });
}

/** A pull request follows the one that it is on top of to its base, or is closed with its base. */
export function leaveDeletedBases({ state, git }: Parts, slug: string): void {
  for (const pull of state.pulls) {
    if (pull.slug !== slug || pull.state !== 'open' || git.tip(slug, pull.base) !== null) continue;
    const below = state.pulls.find((one) => one.head === pull.base && one.mergeCommit !== null);
    if (below !== undefined) pull.base = below.base;
    else Object.assign(pull, { state: 'closed', lastHead: git.tip(slug, pull.head) });
  }
}

const notAllowed = 'Merge method merge commits are not allowed on this repository';

/** An epic's branch has merge commits, and none of them is signed. */
function needsSquash({ state }: Parts): boolean {
  const rules = ['required_linear_history', 'required_signatures'];
  return state.rules.some(({ type }) => rules.includes(type));
}

/** The unmet requirements of the base's rules; null if there are none. */
function lacks({ state, git }: Parts, pull: FakePull): string | null {
  if (pull.isDraft) return 'it is a draft';
  const checks = state.checks.get(git.tip(pull.slug, pull.head) ?? '') ?? [];
  const isGreen = (name: string): boolean =>
    checks.some((check) => check.name === name && check.state === 'success');
  const missing = state.required.find((name) => !isGreen(name));
  if (missing !== undefined) return `the check ${missing}`;
  const approvals = state.reviews.filter((review) => review.state === 'APPROVED').length;
  const wanted = state.rules.map(({ parameters = {} }) =>
    Number((parameters as Variables)['required_approving_review_count'] ?? 0),
  );
  return approvals < Math.max(0, ...wanted) ? 'an approval' : null;
}

function isHead({ git }: Parts, pull: FakePull, head: unknown): boolean {
  return git.tip(pull.slug, pull.head) === head;
}

function taken(name: string, { number }: FakePull): object {
  return { data: { [name]: { pullRequest: { id: `PR_${number}` } } } };
}

function unprocessable(message: string): object {
  return queryErrors('UNPROCESSABLE', message);
}
