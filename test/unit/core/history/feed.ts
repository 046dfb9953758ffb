// Events in short notation, for tests of their consumers.

import type { FeedEvent } from '../../../../server/core/history/feed-event.ts';

export type Line = readonly [
  atMs: number,
  type: string,
  taskId: string | null,
  data?: Readonly<Record<string, unknown>>,
];

/** All events belong to one run and one epic. */
export function feed(lines: readonly Line[]): readonly FeedEvent[] {
  return lines.map(([atMs, type, taskId, data], index) => ({
    seq: index + 1,
    type,
    at_ms: atMs,
    task_id: taskId,
    epic_id: 'epic-1',
    run_id: type.startsWith('run.') || taskId !== null ? 'run-1' : null,
    data: data ?? {},
  }));
}

/** An attempt that lands: claim, start, agent, landing. */
export function lands(
  id: string,
  [claim, agent, end, landed]: readonly number[],
  attempt = 1,
): Line[] {
  return [
    [claim ?? 0, 'task.claimed', id, { status: 'claimed', attempt, agent: 'claude' }],
    [agent ?? 0, 'task.started', id, { status: 'in_progress', attempt, agent: 'claude' }],
    [agent ?? 0, 'worktree.ready', id],
    [end ?? 0, 'agent.ended', id, { attempt, outcome: 'done' }],
    [end ?? 0, 'task.committed', id],
    [landed ?? 0, 'task.completed', id, { status: 'completed', sha: `sha-${id}`, branch: 'main' }],
  ];
}

export function fails(id: string, [claim, agent, end]: readonly number[], attempt = 1): Line[] {
  return [
    [claim ?? 0, 'task.claimed', id, { status: 'claimed', attempt, agent: 'claude' }],
    [agent ?? 0, 'task.started', id, { status: 'in_progress', attempt, agent: 'claude' }],
    [agent ?? 0, 'worktree.ready', id],
    [end ?? 0, 'agent.ended', id, { attempt, outcome: 'failed' }],
    [
      end ?? 0,
      'task.retry',
      id,
      { status: 'ready', attempt, kind: 'agent_failed', error: 'exit code 1', next_attempt_at: 9 },
    ],
  ];
}

export function added(atMs: number, id: string, blockers: readonly string[] = []): Line {
  const status = blockers.length > 0 ? 'blocked' : 'ready';
  return [atMs, 'task.created', id, { title: `Title of ${id}`, status, blocked_by: blockers }];
}
