// The titles of open reviews, and the review that each title represents. Pure.

import { taskNeed } from '../../server/protocol/needs.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';

export interface ShownReview {
  readonly root: string;
  /** The task or epic. */
  readonly id: string;
  /** The displayed commit. */
  readonly head: string;
}

/**
 * Whether the displayed state waits for this person's decision. False for a file that a transcript
 * names, and for a review that was decided or whose work has changed since.
 */
export function isUnderReview(
  board: Pick<StatusSnapshot, 'tasks' | 'epics'>,
  { id, head }: ShownReview,
): boolean {
  const task = board.tasks.find((each) => each.id === id);
  if (task !== undefined)
    return taskNeed(task) === 'review' && (task.commit_sha === null || task.commit_sha === head);
  const epic = board.epics.find((each) => each.id === id);
  return epic?.landing_state === 'needs_review';
}

export type Titles = Readonly<Record<string, ShownReview>>;

/**
 * A title identifies one state of one review; another review with the same name gets its id and
 * commit appended.
 */
export function freeTitle(titles: Titles, title: string, review: ShownReview): string {
  const candidates = [title, `${title} · ${review.id}`];
  const free = candidates.find((each) => isFree(titles[each], review));
  return free ?? `${title} · ${review.id} · ${review.head.slice(0, 8)}`;
}

function isFree(present: ShownReview | undefined, { root, id, head }: ShownReview): boolean {
  if (present === undefined) return true;
  return present.root === root && present.id === id && present.head === head;
}

/** VS Code appends the number of files to the title, in the user's language. */
export function isTabLabel(label: string, title: string): boolean {
  return label === title || label.startsWith(`${title} (`);
}

export function titled(titles: Titles, label: string): ShownReview | null {
  const known = Object.entries(titles).filter(([title]) => isTabLabel(label, title));
  const [longest] = known.toSorted(([a], [b]) => b.length - a.length);
  return longest?.[1] ?? null;
}

/** Titles stored by another version are ignored. */
export function readTitles(kept: unknown): Titles {
  if (typeof kept !== 'object' || kept === null) return {};
  return Object.fromEntries(
    Object.entries(kept as Readonly<Record<string, unknown>>).flatMap(([title, raw]) => {
      const review = readReview(raw);
      return review === null ? [] : [[title, review] as const];
    }),
  );
}

function readReview(raw: unknown): ShownReview | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const { root, id, head } = raw as Readonly<Record<string, unknown>>;
  if (typeof root !== 'string' || typeof id !== 'string' || typeof head !== 'string') return null;
  return { root, id, head };
}
