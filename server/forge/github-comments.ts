// The one comment on an issue that is ours, and the closing of the issue.

import { isObject } from '../core/exchange/json-object.ts';
import { type IssueRef, issueName } from '../core/forge/issue.ts';
import type { ForgeClient } from './client.ts';
import { listIn } from './github-list.ts';
import { type Answer, facts, unreadable } from './port.ts';

const pageSize = 100;
/** Ours is made early, and stands among the first ones. */
const pagesMax = 10;

interface Found {
  readonly id: number;
  readonly body: string;
}

export class GithubComments {
  readonly #client: ForgeClient;
  #login: string | null = null;

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  async keep(issue: IssueRef, marker: string, body: string): Promise<Answer<null>> {
    const found = await this.#find(issue, marker);
    if (found.kind !== 'facts') return found;
    const known = found.value;
    if (known?.body === body) return facts(null);
    const sent =
      known === null
        ? await this.#client.send('POST', `${pathOf(issue)}/comments`, { body })
        : await this.#client.send('PATCH', `${homeOf(issue)}/issues/comments/${known.id}`, {
            body,
          });
    return sent.kind === 'facts' ? facts(null) : sent;
  }

  async close(issue: IssueRef): Promise<Answer<null>> {
    const read = await this.#client.get(pathOf(issue));
    if (read.kind !== 'facts') return read;
    if (isObject(read.value.body) && read.value.body['state'] === 'closed') return facts(null);
    const set = { state: 'closed', state_reason: 'completed' };
    const sent = await this.#client.send('PATCH', pathOf(issue), set);
    return sent.kind === 'facts' ? facts(null) : sent;
  }

  async #find(issue: IssueRef, marker: string): Promise<Answer<Found | null>> {
    const login = await this.#ownLogin();
    if (login.kind !== 'facts') return login;
    const own = (item: unknown): Found | null => readOwn(item, login.value, marker);
    let next: string | null = `${pathOf(issue)}/comments?per_page=${pageSize}`;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const page: Awaited<ReturnType<ForgeClient['get']>> = await this.#client.get(next);
      if (page.kind !== 'facts') return page;
      const [found] = listIn(page.value.body, own);
      next = page.value.next;
      if (found !== undefined || next === null) return facts(found ?? null);
    }
    return unreadable(`${issueName(issue)} has too many comments to find Drover's own.`);
  }

  /** Who the token belongs to; an App has a name only in GraphQL. */
  async #ownLogin(): Promise<Answer<string>> {
    if (this.#login !== null) return facts(this.#login);
    const user = await this.#client.get('user');
    if (user.kind === 'limited') return user;
    const login =
      user.kind === 'facts'
        ? facts(user.value.body)
        : await this.#client.graphql('query { viewer { login } }', {});
    if (login.kind !== 'facts') return login;
    const { value } = login;
    const viewer = isObject(value) && isObject(value['viewer']) ? value['viewer'] : value;
    const name = isObject(viewer) ? viewer['login'] : null;
    if (typeof name !== 'string') return unreadable('GitHub does not say whose token this is.');
    this.#login = name;
    return facts(name);
  }
}

function readOwn(item: unknown, login: string, marker: string): Found | null {
  if (!isObject(item) || !isObject(item['user'])) return null;
  const { id, body, user } = item;
  if (typeof id !== 'number' || typeof body !== 'string' || user['login'] !== login) return null;
  return body.includes(marker) ? { id, body } : null;
}

function homeOf({ slug }: IssueRef): string {
  return `repos/${slug}`;
}

function pathOf(issue: IssueRef): string {
  return `${homeOf(issue)}/issues/${issue.number}`;
}
