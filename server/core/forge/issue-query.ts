// Resolves the text that a user typed to issues.

import type { Gathering } from './issue-plan.ts';

export type IssueQuery =
  /** Each with everything below it. */
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  | { readonly kind: 'label'; readonly label: string }
  /** Identified by its title or its number. */
  | { readonly kind: 'milestone'; readonly milestone: string }
  /** In the forge's own words for a search. */
  | { readonly kind: 'search'; readonly words: string };

export function issueQueryOf(words: readonly string[]): IssueQuery {
  const numbers = words.map((word) => numberOf(word));
  if (numbers.every((number) => number !== null)) return { kind: 'numbers', numbers };
  const text = words.join(' ').trim();
  const [, key, value = ''] = /^(label|milestone):(.+)$/su.exec(text) ?? [];
  if (key === 'label') return { kind: 'label', label: value };
  if (key === 'milestone') return { kind: 'milestone', milestone: value };
  return { kind: 'search', words: text };
}

/** Parses `12`, `#12`, or the address of an issue's page. */
function numberOf(word: string): number | null {
  const digits = /^(?:#|https:\/\/[^?#]+\/issues\/)?(\d{1,9})$/u.exec(word)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The epic for issues without a parent, or null if they stay outside any epic. */
export function gatheringOf(query: IssueQuery): Gathering | null {
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
