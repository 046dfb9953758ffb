// The facts about a repository and the permissions of the token, read without changing anything.

import { isObject } from '../core/exchange/json-object.ts';
import type { Repository } from '../core/forge/issue.ts';
import type { RepositoryFacts } from '../core/forge/landing-rules.ts';
import type { MergeMethod } from '../core/forge/pull-facts.ts';
import type { ForgeClient } from './client.ts';
import { mergeMethods, objectIn } from './github-pull-format.ts';
import { type Answer, facts, type ForgeRights, unreadable } from './port.ts';

/** Git allows no branch with this name, so a pull request from it is always refused. */
const impossibleBranch = 'drover/..';
const reviewQuery = `query ($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(first: 1) { nodes { id reviewThreads(first: 1) { totalCount } } }
  }
}`;
const methodKeys: Readonly<Record<MergeMethod, string>> = {
  MERGE: 'allow_merge_commit',
  SQUASH: 'allow_squash_merge',
  REBASE: 'allow_rebase_merge',
};

export class GithubRights implements ForgeRights {
  readonly #client: ForgeClient;
  readonly #repository: Pick<Repository, 'owner' | 'name'>;
  readonly #home: string;

  constructor(client: ForgeClient, repository: Pick<Repository, 'owner' | 'name'>) {
    this.#client = client;
    this.#repository = repository;
    this.#home = `repos/${repository.owner}/${repository.name}`;
  }

  async repository(): Promise<Answer<RepositoryFacts>> {
    const answer = await this.#client.get(this.#home);
    if (answer.kind !== 'facts') return answer;
    const { body, scopes } = answer.value;
    if (!isObject(body)) return unreadable('GitHub sent an unexpected answer.');
    const { push } = objectIn(body, 'permissions');
    const { owner, name } = this.#repository;
    return facts({
      slug: typeof body['full_name'] === 'string' ? body['full_name'] : `${owner}/${name}`,
      isArchived: body['archived'] === true,
      mayPush: typeof push === 'boolean' ? push : null,
      // Omitted for users without push access.
      methods: mergeMethods.filter((method) => body[methodKeys[method]] !== false),
      scopes,
    });
  }

  async user(): Promise<Answer<string>> {
    const answer = await this.#client.get('user');
    if (answer.kind !== 'facts') return answer;
    const login = isObject(answer.value.body) ? answer.value.body['login'] : null;
    return typeof login === 'string' ? facts(login) : unreadable('GitHub did not name a user.');
  }

  async release(): Promise<Answer<string | null>> {
    const answer = await this.#client.get('meta');
    if (answer.kind !== 'facts') return answer;
    const version = isObject(answer.value.body) ? answer.value.body['installed_version'] : null;
    return facts(typeof version === 'string' ? version : null);
  }

  async mayReadReviews(): Promise<Answer<true>> {
    const { owner, name } = this.#repository;
    const answer = await this.#client.graphql(reviewQuery, { owner, name });
    return answer.kind === 'facts' ? facts(true) : answer;
  }

  async mayOpenPulls(base: string): Promise<Answer<true>> {
    const body = { head: impossibleBranch, base, title: 'drover doctor', draft: true };
    const answer = await this.#client.send('POST', `${this.#home}/pulls`, body);
    if (answer.kind === 'limited') return answer;
    // Permissions are checked before the branch is.
    if (answer.kind === 'unreadable' && answer.cause !== 'invalid') return answer;
    return facts(true);
  }
}
