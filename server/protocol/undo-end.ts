// Finds the end of a slow undo in the feed. Pure.

import type { EventView } from './views.ts';

export type UndoEnd =
  | { readonly kind: 'undone'; readonly sha: string | null }
  /** Its pull request is being opened. */
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly reason: string | null };

/** Returns null if the events do not contain the end of this workflow. */
export function undoEnd(events: readonly EventView[], workflow: string | null): UndoEnd | null {
  for (const { type, data } of events) {
    if (data['workflow'] !== workflow) continue;
    const { reason, sha } = data;
    if (type === 'landing.undo_failed')
      return { kind: 'failed', reason: typeof reason === 'string' ? reason : null };
    if (type === 'epic.undo_sent') return { kind: 'sent' };
    if (type === 'landing.undone' || type === 'epic.undone')
      return { kind: 'undone', sha: typeof sha === 'string' ? sha : null };
  }
  return null;
}
