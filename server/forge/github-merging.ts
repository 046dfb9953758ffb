// Merges by GitHub itself: as soon as its rules allow it, or through the base's merge queue.

import { isObject, type JsonObject } from '../core/exchange/json-object.ts';
import type { MergeMethod, Merging } from '../core/forge/pull-facts.ts';
import type { ForgeClient } from './client.ts';
import { listIn } from './github-list.ts';
import { objectIn } from './github-pull-format.ts';
import { type Answer, facts, type MergeRequest, unreadable } from './port.ts';

const mergingQuery = `query ($id: ID!) {
  node(id: $id) {
    ... on PullRequest {
      autoMergeRequest { enabledAt }
      mergeQueueEntry { position headCommit { oid } }
      timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) {
        nodes { ... on RemovedFromMergeQueueEvent { reason } }
      }
      repository { viewerDefaultMergeMethod }
    }
  }
}`;
const autoMutation = `mutation ($id: ID!, $head: GitObjectID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(
    input: { pullRequestId: $id, expectedHeadOid: $head, mergeMethod: $method }
  ) { pullRequest { id } }
}`;
const mergeMutation = `mutation ($id: ID!, $head: GitObjectID!, $method: PullRequestMergeMethod!) {
  mergePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head, mergeMethod: $method }) {
    pullRequest { id }
  }
}`;
const queueMutation = `mutation ($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) {
    mergeQueueEntry { position }
  }
}`;

/** Only needed for a queue that someone else uses, because REST shows automatic merges. */
const mergingUses = 119;

/** `pullTag` changes with the pull request, but not with its place in the queue. */
export async function readMerging(
  client: ForgeClient,
  nativeId: string,
  pullTag: string | null,
): Promise<Answer<Merging>> {
  const variables = { id: nativeId };
  const memory = { witness: pullTag, uses: mergingUses };
  let answer = await client.graphql(mergingQuery, variables, memory);
  if (answer.kind === 'facts' && isObject(objectIn(answer.value, 'node')['mergeQueueEntry']))
    answer = await client.graphql(mergingQuery, variables);
  if (answer.kind !== 'facts') return answer;
  const { node } = answer.value;
  if (!isObject(node)) return unreadable('The pull request does not exist any more.');
  const entry = node['mergeQueueEntry'];
  const [removed] = listIn(node['timelineItems'], (item) => (isObject(item) ? item : null));
  return facts({
    queue: isObject(entry) ? placeOf(entry) : null,
    isAuto: isObject(node['autoMergeRequest']),
    removed: removed === undefined ? null : textIn(removed, 'reason'),
    method: methodOf(objectIn(node, 'repository')),
  });
}

function placeOf(entry: JsonObject): NonNullable<Merging['queue']> {
  const head = textIn(objectIn(entry, 'headCommit'), 'oid');
  return { position: Number(entry['position']), groupHead: head === '' ? null : head };
}

function methodOf({ viewerDefaultMergeMethod: method }: JsonObject): MergeMethod {
  return method === 'SQUASH' || method === 'REBASE' ? method : 'MERGE';
}

function textIn(item: JsonObject, key: string): string {
  const value = item[key];
  return typeof value === 'string' ? value : '';
}

/** Requests nothing if the head has changed. */
export async function requestMerge(
  client: ForgeClient,
  nativeId: string,
  { how, head, method }: MergeRequest,
): Promise<Answer<null>> {
  const pinned = { id: nativeId, head };
  if (how === 'queue') return nothingIn(await client.graphql(queueMutation, pinned));
  const enabled = await client.graphql(autoMutation, { ...pinned, method });
  // Automatic merging is only for pull requests that still wait for something.
  if (enabled.kind === 'unreadable' && /\bclean status\b/iu.test(enabled.why))
    return nothingIn(await client.graphql(mergeMutation, { ...pinned, method }));
  return nothingIn(enabled);
}

function nothingIn(answer: Answer<unknown>): Answer<null> {
  return answer.kind === 'facts' ? facts(null) : answer;
}
