// Issues on github.com and on self-hosted GitHub servers, with their sub-issues and dependencies.

import { isObject } from '../core/exchange/json-object.ts';
import {
  type Blocker,
  type Issue,
  issueName,
  type IssueRef,
  type Repository,
} from '../core/forge/issue.ts';
import type { Claimant } from '../core/forge/intake.ts';
import type { IssueQuery } from '../core/forge/issue-query.ts';
import type { ForgeClient, Page } from './client.ts';
import { GithubClaims } from './github-claims.ts';
import { GithubComments } from './github-comments.ts';
import { GithubViewer } from './github-viewer.ts';
import { type ListedIssue, readIssue, readMilestone } from './github-format.ts';
import { type Answer, facts, type Tracker, unreadable } from './port.ts';

/** More issues in one import are a mistake, and would use up the user's hourly requests. */
const issuesMax = 1_000;
const pageSize = 100;

type Relation = 'sub_issues' | 'dependencies/blocked_by';

export class GithubIssues implements Tracker {
  readonly #client: ForgeClient;
  readonly #home: string;
  readonly #viewer: GithubViewer;
  readonly #comments: GithubComments;
  readonly #claims: GithubClaims;
  /** GHES supports sub-issues since 3.17 and dependencies since 3.19. */
  readonly #unknown = new Set<Relation>();

  constructor(client: ForgeClient, { owner, name }: Pick<Repository, 'owner' | 'name'>) {
    this.#client = client;
    this.#home = `${owner}/${name}`;
    this.#viewer = new GithubViewer(client);
    this.#comments = new GithubComments(client, this.#viewer);
    this.#claims = new GithubClaims(client);
  }

  login(): Promise<Answer<string>> {
    return this.#viewer.login();
  }

  claim(issue: IssueRef, claimant: Claimant): Promise<Answer<boolean>> {
    return this.#claims.claim(issue, claimant);
  }

  withdraw(issue: IssueRef, label: string): Promise<Answer<null>> {
    return this.#claims.withdraw(issue, label);
  }

  keepComment(issue: IssueRef, marker: string, body: string): Promise<Answer<null>> {
    return this.#comments.keep(issue, marker, body);
  }

  close(issue: IssueRef): Promise<Answer<null>> {
    return this.#comments.close(issue);
  }

  async issues(query: IssueQuery): Promise<Answer<readonly Issue[]>> {
    const asked = await this.#asked(query);
    if (asked.kind !== 'facts') return asked;
    const all = await this.#withChildren(asked.value);
    return all.kind === 'facts' ? await this.#withBlockers(all.value) : all;
  }

  async #asked(query: IssueQuery): Promise<Answer<readonly ListedIssue[]>> {
    switch (query.kind) {
      case 'numbers':
        return await this.#byNumbers(query.numbers);
      case 'label':
        return await this.#list(`repos/${this.#home}/issues?labels=${escaped(query.label)}`);
      case 'milestone': {
        const number = await this.#milestone(query.milestone);
        if (number.kind !== 'facts') return number;
        return await this.#list(`repos/${this.#home}/issues?milestone=${number.value}`);
      }
      case 'search': {
        const words = `repo:${this.#home} is:issue is:open ${query.words}`;
        return await this.#list(`search/issues?q=${escaped(words)}`);
      }
    }
  }

  async #byNumbers(numbers: readonly number[]): Promise<Answer<readonly ListedIssue[]>> {
    const found: ListedIssue[] = [];
    for (const number of numbers) {
      const path = `repos/${this.#home}/issues/${number}`;
      const answer = await this.#client.get(path);
      if (answer.kind !== 'facts') return answer;
      const issue = readIssue(answer.value.body);
      if (issue === null) {
        return unreadable(`${this.#home}#${number} is a pull request, not an issue.`);
      }
      found.push(issue);
    }
    return facts(found);
  }

  async #milestone(wanted: string): Promise<Answer<number>> {
    const path = `repos/${this.#home}/milestones?per_page=${pageSize}`;
    const listed = await this.#pages(path, readMilestone);
    if (listed.kind !== 'facts') return listed;
    const found =
      listed.value.find(({ title }) => title === wanted) ??
      listed.value.find(({ number }) => String(number) === wanted);
    if (found !== undefined) return facts(found.number);
    const titles = listed.value.map(({ title }) => `"${title}"`);
    const known = titles.length === 0 ? 'It has none' : `It has ${titles.slice(0, 5).join(', ')}`;
    return unreadable(`${this.#home} has no open milestone "${wanted}". ${known}.`);
  }

  async #withChildren(first: readonly ListedIssue[]): Promise<Answer<readonly ListedIssue[]>> {
    const found = new Map(first.map((listed) => [issueName(listed.issue), listed]));
    // A Map also visits entries that are added during iteration.
    for (const { issue, hasChildren } of found.values()) {
      const children = await this.#related(issue, 'sub_issues', hasChildren);
      if (children.kind !== 'facts') return children;
      const parent: IssueRef = { slug: issue.slug, number: issue.number };
      for (const child of children.value) {
        const name = issueName(child.issue);
        if (name !== issueName(issue))
          found.set(name, { ...child, issue: { ...child.issue, parent } });
      }
      if (found.size > issuesMax) return tooMany();
    }
    return facts([...found.values()]);
  }

  async #withBlockers(all: readonly ListedIssue[]): Promise<Answer<readonly Issue[]>> {
    const issues: Issue[] = [];
    for (const { issue, hasBlockers } of all) {
      const blockers = await this.#related(issue, 'dependencies/blocked_by', hasBlockers);
      if (blockers.kind !== 'facts') return blockers;
      const blockedBy: Blocker[] = blockers.value.map((listed) => listed.issue);
      issues.push({ ...issue, blockedBy });
    }
    return facts(issues);
  }

  async #related(
    { slug, number, isOpen }: Issue,
    relation: Relation,
    isAny: boolean | null,
  ): Promise<Answer<readonly ListedIssue[]>> {
    if (!isOpen || isAny === false || this.#unknown.has(relation)) return facts([]);
    const path = `repos/${slug}/issues/${number}/${relation}`;
    const listed = await this.#list(path);
    // A server that does not report the total may be too old to know the path.
    if (isAny !== null || listed.kind !== 'unreadable') return listed;
    if (listed.cause !== 'absent' && listed.cause !== 'signed_out') return listed;
    this.#unknown.add(relation);
    return facts([]);
  }

  async #list(path: string): Promise<Answer<readonly ListedIssue[]>> {
    return await this.#pages(
      `${path}${path.includes('?') ? '&' : '?'}per_page=${pageSize}`,
      readIssue,
    );
  }

  async #pages<T>(path: string, read: (item: unknown) => T | null): Promise<Answer<readonly T[]>> {
    const found: T[] = [];
    for (let at: string | null = path; at !== null;) {
      const page: Answer<Page> = await this.#client.get(at);
      if (page.kind !== 'facts') return page;
      const { body, next } = page.value;
      for (const item of itemsOf(body)) {
        const value = read(item);
        if (value !== null) found.push(value);
      }
      if (found.length > issuesMax) return tooMany();
      at = next;
    }
    return facts(found);
  }
}

/** The items of a list or of search results. */
function itemsOf(body: unknown): readonly unknown[] {
  const items = isObject(body) ? body['items'] : body;
  return Array.isArray(items) ? (items as readonly unknown[]) : [];
}

function tooMany(): Answer<never> {
  return unreadable(
    `More than ${issuesMax} issues match. Narrow it by a label, a milestone or words.`,
  );
}

function escaped(text: string): string {
  return encodeURIComponent(text);
}
