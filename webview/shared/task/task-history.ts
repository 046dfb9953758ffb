// The history of a task as text: its events in the feed, newest first. Pure.

import { actorWords } from '../../../server/core/history/feed-event.ts';
import type { EventView } from '../../../server/protocol/views.ts';

export interface HistoryLine {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly words: string;
}

const linesMax = 200;

const words: Readonly<Record<string, string>> = {
  'task.created': 'Added',
  'task.moved': 'Moved',
  'task.claimed': 'Attempt started',
  'task.completed': 'Completed',
  'task.failed': 'Failed',
  'task.cancelled': 'Canceled',
  'task.paused': 'Paused',
  'task.unpaused': 'Resumed',
  'task.retry': 'Retried',
  'task.committed': 'Work committed',
  'task.needs_review': 'Waits for a review',
  'task.approved': 'Approved',
  'task.sent_back': 'Sent back to the agent',
  'task.conflict': 'Conflict with landed work',
  'task.taken_over': 'Taken over by hand',
  'task.returned': 'Returned to the queue',
  'task.landed': 'Landed',
  'task.undone': 'Landing undone',
  'hint.added': 'Hint sent',
  'forecast.changed': 'Overlap with other work',
  'question.asked': 'The agent asked',
  'question.answered': 'Answered',
  'worktree.ready': 'Worktree ready',
  'gate.passed': 'Gate passed',
  'gate.failed': 'Gate failed',
  'agent.ended': 'Agent ended',
  'repository.changed': 'Changed outside the worktree',
};

const fieldNames: Readonly<Record<string, string>> = {
  acceptance_criteria: 'acceptance criteria',
  agent_override: 'agent',
  blocked_by: 'dependencies',
  best_of: 'candidates',
  max_attempts: 'attempts',
};

export function historyLines(events: readonly EventView[]): readonly HistoryLine[] {
  return events
    .toSorted((a, b) => b.seq - a.seq)
    .flatMap((event) => {
      const said = wordsOf(event);
      const by = actorWords(event.data);
      if (said === null) return [];
      return [{ atMs: event.at_ms, words: by === null ? said : `${said} · ${by}` }];
    })
    .slice(0, linesMax);
}

/** Returns null for events that are irrelevant to a reader of the task's history. */
function wordsOf({ type, data }: EventView): string | null {
  if (type === 'task.edited') {
    const changed = Array.isArray(data['changed']) ? data['changed'].map(String) : [];
    const named = changed.map((field) => fieldNames[field] ?? field.replaceAll('_', ' '));
    return named.length === 0 ? 'Edited' : `Edited: ${named.join(', ')}`;
  }
  const known = words[type];
  if (known === undefined) return null;
  const detail = [data['reason'], data['error'], data['text'], data['message']].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof detail === 'string'
    ? `${known}: ${detail.slice(0, type === 'repository.changed' ? 1_000 : 200)}`
    : known;
}
