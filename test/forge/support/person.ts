// A person or a check on the fake GitHub: GitHub's own client acts for them.

import { createRequire } from 'node:module';
import type { FakeGithub } from '../../doubles/fake-github/fake-github.ts';
import { slug } from './pulls.ts';

interface Octokit {
  request(route: string, parameters: object): Promise<{ readonly status: number }>;
  graphql(query: string, variables: object): Promise<unknown>;
}

type OctokitClass = new (options: {
  readonly auth: string;
  readonly baseUrl: string;
  readonly userAgent: string;
}) => Octokit;

export class Person {
  readonly #octokit: Octokit;
  readonly #home: object;

  private constructor(octokit: Octokit) {
    const [owner, repo] = slug.split('/');
    this.#octokit = octokit;
    this.#home = { owner, repo };
  }

  static async of(fake: FakeGithub, login: string): Promise<Person> {
    const token = `ghp_${login}`;
    fake.people.set(token, login);
    const from = new URL('../schemas/package.json', import.meta.url);
    const file = createRequire(from).resolve('@octokit/core');
    const { Octokit } = (await import(file)) as { readonly Octokit: OctokitClass };
    const baseUrl = `${fake.url}api/v3`;
    return new Person(new Octokit({ auth: token, baseUrl, userAgent: login }));
  }

  async reportCheck(
    sha: string,
    name: string,
    failure: { readonly path: string; readonly message: string } | null,
  ): Promise<void> {
    const annotations =
      failure === null
        ? []
        : [{ ...failure, start_line: 1, end_line: 1, annotation_level: 'failure' }];
    await this.#octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...this.#home,
      name,
      head_sha: sha,
      status: 'completed',
      conclusion: failure === null ? 'success' : 'failure',
      output: { title: name, summary: failure === null ? 'passed' : 'failed', annotations },
    });
  }

  async comment(number: number, sha: string, path: string, body: string): Promise<void> {
    const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments';
    const at = { commit_id: sha, path, line: 1, side: 'RIGHT' };
    await this.#octokit.request(route, { ...this.#home, pull_number: number, ...at, body });
  }

  async approve(number: number): Promise<void> {
    const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
    await this.#octokit.request(route, { ...this.#home, pull_number: number, event: 'APPROVE' });
  }

  async resolve(thread: string): Promise<void> {
    const query = `mutation ($id: ID!) {
      resolveReviewThread(input: { threadId: $id }) { thread { id isResolved } }
    }`;
    await this.#octokit.graphql(query, { id: thread });
  }
}
