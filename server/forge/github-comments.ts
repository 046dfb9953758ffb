// Our single comment on an issue, and closing the issue.

import { isObject } from '../core/exchange/json-object.ts';
import { type IssueRef, issueName } from '../core/forge/issue.ts';
import type { ForgeClient } from './client.ts';
import { listIn } from './github-list.ts';
import type { GithubViewer } from './github-viewer.ts';
import { type Answer, facts, unreadable } from './port.ts';

const pageSize = 100;
/** Our comment is created early, so it is among the first ones. */
const pagesMax = 10;

interface Found {
  readonly id: number;
  readonly body: string;
}

export class GithubComments {
  readonly #client: ForgeClient;
  readonly #viewer: GithubViewer;

  constructor(client: ForgeClient, viewer: GithubViewer) {
    this.#client = client;
    this.#viewer = viewer;
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
    const login = await this.#viewer.login();
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
