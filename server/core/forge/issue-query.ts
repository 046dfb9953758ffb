// Parses a user's text that selects issues.

import type { Gathering } from './issue-plan.ts';

export type IssueQuery =
  /** These issues and all their sub-issues. */
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  | { readonly kind: 'label'; readonly label: string }
  /** By its title or number. */
  | { readonly kind: 'milestone'; readonly milestone: string }
  /** In the forge's search syntax. */
  | { readonly kind: 'search'; readonly words: string };

export function parseIssueQuery(words: readonly string[]): IssueQuery {
  const numbers = words.map((word) => numberOf(word));
  if (numbers.every((number) => number !== null)) return { kind: 'numbers', numbers };
  const text = words.join(' ').trim();
  const [, key, value = ''] = /^(label|milestone):(.+)$/su.exec(text) ?? [];
  if (key === 'label') return { kind: 'label', label: value };
  if (key === 'milestone') return { kind: 'milestone', milestone: value };
  return { kind: 'search', words: text };
}

/** Parses `12`, `#12` or the URL of an issue. */
function numberOf(word: string): number | null {
  const digits = /^(?:#|https:\/\/[^?#]+\/issues\/)?(\d{1,9})$/u.exec(word)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The epic for issues without a parent. Returns null if they belong to no epic. */
export function chooseGathering(query: IssueQuery): Gathering | null {
  switch (query.kind) {
    case 'numbers':
    case 'search':
      return null;
    case 'label':
      return { id: gatheringId('label', query.label), title: query.label };
    case 'milestone':
      return { id: gatheringId('milestone', query.milestone), title: query.milestone };
  }
}

const idMax = 60;

function gatheringId(kind: string, name: string): string {
  const safe = name.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-');
  return `gh-${kind}-${safe}`.slice(0, idMax).replace(/-+$/u, '');
}
