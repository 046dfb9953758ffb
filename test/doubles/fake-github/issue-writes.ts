// Changes to issues that the fake GitHub supports: comments, labels, assignees, and state.

import type { FakeIssue } from './bodies.ts';
import type { PublishedSchema } from './published-schema.ts';
import { type Asked, type PullAnswer, texts } from './pulls.ts';

export interface FakeComment {
  readonly slug: string;
  readonly number: number;
  readonly id: number;
  readonly author: string;
  body: string;
}

/** The owner of the token. */
export const ownLogin = 'drover';

export class IssueWrites {
  readonly comments: FakeComment[] = [];
  readonly #schema: PublishedSchema;
  readonly #issues: FakeIssue[];

  constructor(schema: PublishedSchema, issues: FakeIssue[]) {
    this.#schema = schema;
    this.#issues = issues;
  }

  /** Returns null if the request concerns something else. */
  answer(asked: Asked): PullAnswer | null {
    const { method, slug, rest } = asked;
    const [, id] = /^issues\/comments\/(\d+)$/u.exec(rest) ?? [];
    if (id !== undefined) return this.#edit(asked, Number(id));
    const [, number, list = '', name] =
      /^issues\/(\d+)(?:\/(comments|labels|assignees))?(?:\/(.+))?$/u.exec(rest) ?? [];
    const at = this.#issues.findIndex((one) => {
      return one.slug === slug && String(one.number) === number;
    });
    const issue = this.#issues[at];
    if (issue === undefined) return null;
    if (list === 'comments') return this.#comments(asked, issue);
    if (list === 'labels') return this.#labels(asked, at, name ?? null);
    if (list === 'assignees') {
      const assignees = [...(issue.assignees ?? []), ...texts(asked.body['assignees'])];
      this.#issues[at] = { ...issue, assignees };
      return { status: 201, body: null };
    }
    if (method !== 'PATCH') return null;
    const { state } = asked.body;
    this.#issues[at] = { ...issue, isClosed: state === 'closed' };
    return { status: 200, body: null };
  }

  #comments(asked: Asked, { slug, number }: FakeIssue): PullAnswer {
    if (asked.method === 'POST') {
      const body = String(asked.body['body']);
      const comment = { slug, number, id: 1 + this.comments.length, author: ownLogin, body };
      this.comments.push(comment);
      return { status: 201, body: this.#body(comment) };
    }
    const own = this.comments.filter((one) => one.slug === slug && one.number === number);
    const page = Number(asked.query.get('page') ?? 1);
    const size = Number(asked.query.get('per_page') ?? 30);
    const body = own.slice((page - 1) * size, page * size).map((one) => this.#body(one));
    return { status: 200, body };
  }

  /** GitHub creates a label that does not exist. */
  #labels({ method, body }: Asked, at: number, gone: string | null): PullAnswer | null {
    const issue = this.#issues[at];
    if (issue === undefined || method === 'GET') return null;
    const before = issue.labels ?? [];
    const wanted = gone === null ? null : decodeURIComponent(gone);
    if (wanted !== null && !before.includes(wanted)) return null;
    const labels =
      wanted === null
        ? [...new Set([...before, ...texts(body['labels'])])]
        : before.filter((name) => name !== wanted);
    this.#issues[at] = { ...issue, labels };
    const sample = this.#schema.sample('label') as object;
    return { status: 200, body: labels.map((name) => ({ ...sample, name })) };
  }

  #edit(asked: Asked, id: number): PullAnswer | null {
    const comment = this.comments.find((one) => one.id === id && one.slug === asked.slug);
    if (comment === undefined) return null;
    comment.body = String(asked.body['body']);
    return { status: 200, body: this.#body(comment) };
  }

  #body({ id, author, body }: FakeComment): object {
    const sample = this.#schema.sample('issue-comment') as object;
    return { ...sample, id, body, user: this.user(author) };
  }

  user(login: string): object {
    return { ...(this.#schema.sample('simple-user') as object), login };
  }
}
