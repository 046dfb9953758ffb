// Parses an issue from GitHub's REST API.

import { isObject, type JsonObject } from '../core/exchange/json-object.ts';
import type { Issue, IssueRef } from '../core/forge/issue.ts';

export interface ListedIssue {
  readonly issue: Issue;
  /** Null if the server does not report it. */
  readonly hasChildren: boolean | null;
  /** Whether it has open blockers. Null if the server does not report that. */
  readonly hasBlockers: boolean | null;
}

/** Returns null for a pull request (issue lists contain them too), and for anything else. */
export function readIssue(item: unknown): ListedIssue | null {
  if (!isObject(item) || isObject(item['pull_request'])) return null;
  const { number, title, state } = item;
  const slug = slugOf(item['repository_url']);
  if (typeof number !== 'number' || typeof title !== 'string' || slug === null) return null;
  const user = item['user'];
  return {
    issue: {
      nativeId: text(item['node_id']),
      slug,
      number,
      title,
      isOpen: state === 'open',
      body: text(item['body']),
      url: text(item['html_url']),
      author: isObject(user) ? text(user['login']) : '',
      labels: labelsOf(item['labels']),
      assignees: loginsOf(item['assignees']),
      parent: refOf(item['parent_issue_url']),
      blockedBy: [],
    },
    hasChildren: isAny(item['sub_issues_summary'], 'total'),
    hasBlockers: isAny(item['issue_dependencies_summary'], 'blocked_by'),
  };
}

export interface Milestone {
  readonly number: number;
  readonly title: string;
}

export function readMilestone(item: unknown): Milestone | null {
  if (!isObject(item)) return null;
  const { number, title } = item;
  return typeof number === 'number' && typeof title === 'string' ? { number, title } : null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isAny(summary: unknown, key: string): boolean | null {
  if (!isObject(summary)) return null;
  const count = summary[key];
  return typeof count === 'number' ? count > 0 : null;
}

function labelsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly (JsonObject | string)[]).flatMap((label) => {
    const name = isObject(label) ? label['name'] : label;
    return typeof name === 'string' ? [name] : [];
  });
}

function loginsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly unknown[]).flatMap((user) => {
    const login = isObject(user) ? user['login'] : null;
    return typeof login === 'string' ? [login] : [];
  });
}

/** `https://host/…/repos/owner/name` → `owner/name`. */
function slugOf(url: unknown): string | null {
  return /\/repos\/([^/]+\/[^/]+)$/u.exec(text(url))?.[1] ?? null;
}

/** `https://host/…/repos/owner/name/issues/7`. */
function refOf(url: unknown): IssueRef | null {
  const [, slug, number] = /\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)$/u.exec(text(url)) ?? [];
  return slug === undefined ? null : { slug, number: Number(number) };
}
