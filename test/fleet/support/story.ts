// The report about a fleet that failed: tasks that are not completed or have used an attempt, and
// all their events in the feed.

import type { Fleet } from './fleet.ts';

interface TaskLine {
  readonly id: string;
  readonly words: string;
}

/**
 * Tasks that are not completed, or that have used an attempt, and the named one, for an assertion
 * message.
 */
export async function storyOf(fleet: Fleet, also = ''): Promise<string> {
  const tasks = await fleet.query<TaskLine>(
    `SELECT id, concat_ws(' ', id, status, phase, 'attempts', attempts, review_kind, blocked_reason, last_error) AS words
     FROM tasks WHERE status <> 'completed' OR attempts <> 0 OR id = $1 ORDER BY id`,
    [also],
  );
  const attempts = await fleet.query<{ words: string }>(
    `SELECT concat_ws(' ', a.task_id, 'attempt', a.number, a.state, 'on', m.name, 'base', left(a.base_sha, 8),
       'commit', left(a.commit_sha, 8), a.failure_kind, a.error) AS words
     FROM attempts a LEFT JOIN machines m ON m.id = a.machine WHERE a.task_id = ANY($1) ORDER BY a.task_id, a.number`,
    [tasks.map(({ id }) => id)],
  );
  const events = await fleet.query<{ words: string }>(
    `SELECT concat_ws(' ', seq, at_ms, type, task_id, data) AS words
     FROM events WHERE task_id = ANY($1) OR task_id IS NULL ORDER BY seq DESC LIMIT 150`,
    [tasks.map(({ id }) => id)],
  );
  const lines = [...tasks, ...attempts, ...events.toReversed()].map(({ words }) => words);
  return `what did not go well:\n${lines.join('\n')}`;
}
