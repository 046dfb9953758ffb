// Parses pull requests, checks and reviews from GitHub's REST and GraphQL APIs.

import { isObject, type JsonObject } from '../core/exchange/json-object.ts';
import {
  type Annotation,
  type BranchRules,
  type Check,
  type MergeMethod,
  noRules,
  type PullCore,
  type ReviewThread,
} from '../core/forge/pull-facts.ts';
import { listIn } from './github-list.ts';

export function readPull(item: unknown): PullCore | null {
  if (!isObject(item)) return null;
  const { node_id: nativeId, number, state, draft, mergeable } = item;
  const head = objectIn(item, 'head');
  const base = objectIn(item, 'base');
  if (typeof nativeId !== 'string' || typeof number !== 'number') return null;
  const isMerged = item['merged'] === true || typeof item['merged_at'] === 'string';
  return {
    nativeId,
    number,
    url: text(item['html_url']),
    state: isMerged ? 'merged' : state === 'open' ? 'open' : 'closed',
    isDraft: draft === true,
    isMergeable: typeof mergeable === 'boolean' ? mergeable : null,
    head: text(head['sha']),
    author: text(objectIn(item, 'user')['login']),
    baseBranch: text(base['ref']),
    baseSha: text(base['sha']),
    // For an open pull request, this is a trial merge.
    mergeCommit: isMerged ? text(item['merge_commit_sha']) : null,
    body: text(item['body']),
  };
}

const greenEnds: ReadonlySet<unknown> = new Set(['success', 'neutral', 'skipped']);

export function readCheckRun(
  item: unknown,
): (Check & { readonly id: number; readonly hasAnnotations: boolean }) | null {
  if (!isObject(item)) return null;
  const { id, name } = item;
  if (typeof id !== 'number' || typeof name !== 'string') return null;
  const output = objectIn(item, 'output');
  return {
    id,
    name,
    state: stateOfRun(item),
    url: text(item['html_url']),
    text: [output['title'], output['summary'], output['text']].map(text).join('\n').trim(),
    annotations: [],
    // The ID of an Actions check run is also the number of its job.
    job: objectIn(item, 'app')['slug'] === 'github-actions' ? id : null,
    hasAnnotations: Number(output['annotations_count']) > 0,
  };
}

const statusStates: Readonly<Record<string, Check['state']>> = {
  success: 'green',
  pending: 'running',
};

export function readStatus(item: unknown): Check | null {
  if (!isObject(item) || typeof item['context'] !== 'string') return null;
  return {
    name: item['context'],
    state: statusStates[text(item['state'])] ?? 'red',
    url: text(item['target_url']),
    text: text(item['description']),
    annotations: [],
    job: null,
  };
}

export function readAnnotation(item: unknown): Annotation | null {
  if (!isObject(item) || typeof item['path'] !== 'string') return null;
  const { start_line: line } = item;
  const words = [item['title'], item['message']].map(text).filter((word) => word !== '');
  return {
    path: item['path'],
    line: typeof line === 'number' ? line : null,
    text: words.join(': '),
  };
}

export function readThread(item: unknown): ReviewThread | null {
  if (!isObject(item) || typeof item['id'] !== 'string') return null;
  const { line, path } = item;
  return {
    id: item['id'],
    kind: 'thread',
    isOpen: item['isResolved'] !== true,
    path: typeof path === 'string' ? path : null,
    line: typeof line === 'number' ? line : null,
    url: listIn(item['comments'], (one) => (isObject(one) ? text(one['url']) : null))[0] ?? '',
    comments: listIn(item['comments'], readComment),
  };
}

/** Returns null for a review that neither approves nor requests changes. */
export function readReview(item: unknown): ReviewThread | null {
  const comment = readComment(item);
  if (comment === null || !isObject(item)) return null;
  const { id } = comment;
  const common = { id, path: null, line: null, url: text(item['url']), comments: [comment] };
  switch (item['state']) {
    case 'CHANGES_REQUESTED':
      return { ...common, kind: 'review', isOpen: true };
    case 'APPROVED':
      return { ...common, kind: 'approval', isOpen: false };
    default:
      return null;
  }
}

function readComment(item: unknown): ReviewThread['comments'][number] | null {
  if (!isObject(item) || typeof item['id'] !== 'string') return null;
  const atMs = Date.parse(text(item['updatedAt']));
  return {
    id: item['id'],
    author: authorIn(objectIn(item, 'author')),
    body: text(item['body']),
    atMs: Number.isFinite(atMs) ? atMs : 0,
  };
}

/** As REST and the page name it: a person may have the name of a bot without the ending. */
function authorIn({ login, __typename: kind }: JsonObject): string {
  return kind === 'Bot' ? `${text(login)}[bot]` : text(login);
}

export const mergeMethods: readonly MergeMethod[] = ['MERGE', 'SQUASH', 'REBASE'];

/** The rules of rulesets that apply to a branch. */
export function readRules(all: readonly JsonObject[]): BranchRules {
  const ofType = (type: string): readonly JsonObject[] =>
    all.filter((rule) => rule['type'] === type);
  const checks = ofType('required_status_checks').flatMap((rule) =>
    listIn(objectIn(rule, 'parameters')['required_status_checks'], (check) =>
      isObject(check) ? text(check['context']) : null,
    ),
  );
  const reviews = ofType('pull_request').map((rule) => objectIn(rule, 'parameters'));
  const approvals = reviews.map((rule) => countIn(rule, 'required_approving_review_count'));
  return {
    ...noRules,
    requiredChecks: checks,
    approvals: Math.max(0, ...approvals),
    needsLinearHistory: ofType('required_linear_history').length > 0,
    needsSignatures: ofType('required_signatures').length > 0,
    needsCodeOwners: reviews.some((rule) => rule['require_code_owner_review'] === true),
    hasQueue: ofType('merge_queue').length > 0,
    mergeMethods: reviews.map(methodsOf).reduce(methodsOfBoth, null),
  };
}

function methodsOf(rule: JsonObject): BranchRules['mergeMethods'] {
  const allowed = listIn(rule['allowed_merge_methods'], wordIn);
  return allowed.length === 0
    ? null
    : mergeMethods.filter((method) => allowed.includes(method.toLowerCase()));
}

export function methodsOfBoth(
  one: BranchRules['mergeMethods'],
  other: BranchRules['mergeMethods'],
): BranchRules['mergeMethods'] {
  if (one === null || other === null) return one ?? other;
  return one.filter((method) => other.includes(method));
}

/** The summary of the older branch protection in the response about a branch. */
export function readSummary(branch: unknown): BranchRules {
  const old = isObject(branch) ? objectIn(branch, 'protection') : {};
  const contexts = objectIn(old, 'required_status_checks')['contexts'];
  return {
    ...noRules,
    requiredChecks: listIn(contexts, wordIn),
    isProtected: isObject(branch) && branch['protected'] === true,
  };
}

/** A `RefUpdateRule` of GraphQL. */
export function readProtection(rule: JsonObject): BranchRules {
  return {
    ...noRules,
    requiredChecks: listIn(rule['requiredStatusCheckContexts'], wordIn),
    approvals: countIn(rule, 'requiredApprovingReviewCount'),
    needsLinearHistory: rule['requiresLinearHistory'] === true,
    needsSignatures: rule['requiresSignatures'] === true,
    needsCodeOwners: rule['requiresCodeOwnerReviews'] === true,
    isProtected: true,
  };
}

/** A run of Actions. */
export function readRunId(item: unknown): number | null {
  return isObject(item) && typeof item['id'] === 'number' ? item['id'] : null;
}

export function readJob(item: unknown): Check | null {
  if (!isObject(item) || typeof item['name'] !== 'string') return null;
  return {
    name: item['name'],
    state: stateOfRun(item),
    url: text(item['html_url']),
    text: '',
    annotations: [],
    job: typeof item['id'] === 'number' ? item['id'] : null,
  };
}

function stateOfRun({ status, conclusion }: JsonObject): Check['state'] {
  if (status !== 'completed') return 'running';
  return greenEnds.has(conclusion) ? 'green' : 'red';
}

function countIn(item: JsonObject, key: string): number {
  const value = item[key];
  return typeof value === 'number' ? value : 0;
}

function wordIn(item: unknown): string | null {
  return typeof item === 'string' ? item : null;
}

export function objectIn(item: JsonObject, key: string): JsonObject {
  const value = item[key];
  return isObject(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
