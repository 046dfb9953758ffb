// Reads all pages of a GitHub list.

import { isObject } from '../core/exchange/json-object.ts';
import type { ForgeClient, Page } from './client.ts';
import { type Answer, facts } from './port.ts';

const pageSize = 100;
const pagesMax = 10;

/** `read` returns null to omit an item. `right`: as in the client. */
export async function readList<T>(
  client: ForgeClient,
  path: string,
  read: (item: unknown) => T | null,
  right: string | null = null,
): Promise<Answer<readonly T[]>> {
  const found: T[] = [];
  let next: string | null = `${path}${path.includes('?') ? '&' : '?'}per_page=${pageSize}`;
  for (let pages = 0; next !== null && pages < pagesMax; pages += 1) {
    const page: Answer<Page> = await client.get(next, right);
    if (page.kind !== 'facts') return page;
    found.push(...listIn(page.value.body, read));
    next = page.value.next;
  }
  return facts(found);
}

/** The tags of all pages of these lists, for caching a query; null if one is unknown. */
export async function listTags(
  client: ForgeClient,
  lists: readonly string[],
): Promise<string | null> {
  const tags: string[] = [];
  for (const list of lists) {
    let next: string | null = list;
    for (let pages = 0; next !== null && pages < pagesMax; pages += 1) {
      const page: Answer<Page> = await client.get(next);
      if (page.kind !== 'facts' || page.value.tag === null) return null;
      tags.push(page.value.tag);
      next = page.value.next;
    }
  }
  return tags.join(' ');
}

const wrappers = ['nodes', 'check_runs', 'statuses', 'workflow_runs', 'jobs'] as const;

/** The items of a list, however GitHub wraps it. */
export function listIn<T>(value: unknown, read: (item: unknown) => T | null): readonly T[] {
  const wrapped = isObject(value)
    ? wrappers.map((key) => value[key]).find((list) => list !== undefined)
    : value;
  const items = Array.isArray(wrapped) ? (wrapped as readonly unknown[]) : [];
  return items.flatMap((item) => read(item) ?? []);
}
