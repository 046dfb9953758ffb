// Pull requests on GitHub, through REST or, if that has no answer, GraphQL.

import { isObject } from '../core/exchange/json-object.ts';
import type { Repository } from '../core/forge/issue.ts';
import type {
  BranchRules,
  Check,
  Merging,
  PullCore,
  ReviewThread,
} from '../core/forge/pull-facts.ts';
import type { JobLog } from '../core/forge/job-log.ts';
import type { ForgeClient } from './client.ts';
import { readChecks } from './github-checks.ts';
import { readJobLog, rerunJob } from './github-jobs.ts';
import { readMerging, requestMerge } from './github-merging.ts';
import { listIn, listTags, readList } from './github-list.ts';
import { objectIn, readPull, readReview, readThread } from './github-pull-format.ts';
import { readBranchRules } from './github-rules.ts';
import {
  type Answer,
  facts,
  type Forge,
  type MergeRequest,
  type NewPull,
  type PullChange,
  type PullKey,
  unreadable,
} from './port.ts';

const threadQuery = `query ($id: ID!) {
  node(id: $id) {
    ... on PullRequest {
      reviewThreads(first: 100) {
        nodes {
          id isResolved path line
          comments(first: 50) { nodes { id url body updatedAt author { login __typename } } }
        }
      }
      latestOpinionatedReviews(first: 100) { nodes { id url state body updatedAt author { login __typename } } }
    }
  }
}`;
const readyMutation = `mutation ($id: ID!) {
  markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { id isDraft } }
}`;
const replyMutation = `mutation ($id: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: { pullRequestReviewThreadId: $id, body: $body }) {
    comment { id }
  }
}`;

/** Resolving a thread does not show in any list of comments. */
const threadUses = 29;
/** After this time, a user's changed permission takes effect. */
const writerMs = 10 * 60_000;

export class GithubPulls implements Forge {
  readonly #client: ForgeClient;
  readonly #repository: Pick<Repository, 'owner' | 'name'>;
  readonly #home: string;
  readonly #writers = new Map<string, { readonly may: boolean; readonly untilMs: number }>();

  constructor(client: ForgeClient, repository: Pick<Repository, 'owner' | 'name'>) {
    this.#client = client;
    this.#repository = repository;
    this.#home = `repos/${repository.owner}/${repository.name}`;
  }

  async find(branch: string): Promise<Answer<PullCore | null>> {
    const head = encodeURIComponent(`${this.#repository.owner}:${branch}`);
    const listed = await readList(
      this.#client,
      `${this.#home}/pulls?state=all&head=${head}`,
      readPull,
    );
    if (listed.kind !== 'facts') return listed;
    return facts(listed.value.toSorted((one, other) => other.number - one.number)[0] ?? null);
  }

  async open({ head, base, title, body, isDraft }: NewPull): Promise<Answer<PullCore>> {
    const path = `${this.#home}/pulls`;
    const made = await this.#client.send('POST', path, { head, base, title, body, draft: isDraft });
    // Not every GitHub plan supports drafts.
    if (isDraft && made.kind === 'unreadable' && /draft/iu.test(made.why))
      return this.open({ head, base, title, body, isDraft: false });
    return pullIn(made);
  }

  async edit(number: number, change: PullChange): Promise<Answer<PullCore>> {
    return pullIn(await this.#client.send('PATCH', `${this.#home}/pulls/${number}`, change));
  }

  async addLabels(number: number, labels: readonly string[]): Promise<Answer<null>> {
    const path = `${this.#home}/issues/${number}/labels`;
    return nothingIn(await this.#client.send('POST', path, { labels }));
  }

  async requestReview(number: number, wanted: readonly string[]): Promise<Answer<null>> {
    const path = `${this.#home}/pulls/${number}/requested_reviewers`;
    const teams = wanted.filter((name) => name.includes('/'));
    const body = {
      reviewers: wanted.filter((name) => !name.includes('/')),
      team_reviewers: teams.map((name) => name.slice(name.indexOf('/') + 1)),
    };
    return nothingIn(await this.#client.send('POST', path, body));
  }

  async markReady(nativeId: string): Promise<Answer<null>> {
    return nothingIn(await this.#client.graphql(readyMutation, { id: nativeId }));
  }

  async reply(nativeThreadId: string, body: string): Promise<Answer<null>> {
    return nothingIn(await this.#client.graphql(replyMutation, { id: nativeThreadId, body }));
  }

  async read(number: number): Promise<Answer<PullCore>> {
    return pullIn(await this.#client.get(`${this.#home}/pulls/${number}`));
  }

  async checks(sha: string): Promise<Answer<readonly Check[]>> {
    return await readChecks(this.#client, this.#home, sha);
  }

  async jobLog(job: number, paths: readonly string[]): Promise<Answer<JobLog>> {
    return await readJobLog(this.#client, this.#home, job, paths);
  }

  async rerun(job: number): Promise<Answer<null>> {
    return await rerunJob(this.#client, this.#home, job);
  }

  async threads({ nativeId, number }: PullKey): Promise<Answer<readonly ReviewThread[]>> {
    const pull = `${this.#home}/pulls/${number}`;
    const lists = [`${pull}/comments`, `${pull}/reviews`].map((list) => `${list}?per_page=100`);
    const memory = { witness: await listTags(this.#client, lists), uses: threadUses };
    const answer = await this.#client.graphql(threadQuery, { id: nativeId }, memory);
    if (answer.kind !== 'facts') return answer;
    const { node } = answer.value;
    if (!isObject(node)) return unreadable('The pull request does not exist any more.');
    const threads = listIn(node['reviewThreads'], readThread);
    return facts([...threads, ...listIn(node['latestOpinionatedReviews'], readReview)]);
  }

  async mayWrite(login: string): Promise<Answer<boolean>> {
    const nowMs = this.#client.nowMs();
    const known = this.#writers.get(login);
    if (known !== undefined && nowMs < known.untilMs) return facts(known.may);
    const name = encodeURIComponent(login);
    const answer = await this.#client.get(`${this.#home}/collaborators/${name}/permission`);
    const isStranger = answer.kind === 'unreadable' && answer.cause === 'absent';
    if (answer.kind !== 'facts' && !isStranger) return answer;
    const body = answer.kind === 'facts' ? answer.value.body : null;
    const permission = isObject(body) ? body['permission'] : null;
    const may = permission === 'admin' || permission === 'write';
    this.#writers.set(login, { may, untilMs: nowMs + writerMs });
    return facts(may);
  }

  async merging({ nativeId, number }: PullKey): Promise<Answer<Merging>> {
    const pull = await listTags(this.#client, [`${this.#home}/pulls/${number}`]);
    return await readMerging(this.#client, nativeId, pull);
  }

  async merge(nativeId: string, request: MergeRequest): Promise<Answer<null>> {
    return await requestMerge(this.#client, nativeId, request);
  }

  async tip(branch: string): Promise<Answer<string>> {
    const answer = await this.#client.get(`${this.#home}/branches/${encodeURIComponent(branch)}`);
    if (answer.kind !== 'facts') return answer;
    const { body } = answer.value;
    const sha = isObject(body) ? objectIn(body, 'commit')['sha'] : null;
    return typeof sha === 'string' ? facts(sha) : unreadable('GitHub did not name a commit.');
  }

  async rules(branch: string): Promise<Answer<BranchRules>> {
    return await readBranchRules(this.#client, this.#repository, branch);
  }
}

function pullIn(answer: Awaited<ReturnType<ForgeClient['get']>>): Answer<PullCore> {
  if (answer.kind !== 'facts') return answer;
  const pull = readPull(answer.value.body);
  return pull === null ? unreadable('GitHub sent an unexpected answer.') : facts(pull);
}

function nothingIn(answer: Answer<unknown>): Answer<null> {
  return answer.kind === 'facts' ? facts(null) : answer;
}
