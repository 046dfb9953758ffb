// Boards for webviews: a small one with something of every kind, and one of any size.

import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { taskStatuses, type TaskStatus } from '../../../server/core/plan/state.ts';
import { epicView, questionView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

/** Two epics with sub-tasks, dependencies and something that waits for a person; some tasks in no epic. */
export function smallBoard(): StatusSnapshot {
  const tasks = numbered([
    { id: 'parse', title: 'Write the parser', epic_id: 'syntax', status: 'completed' },
    {
      id: 'print',
      title: 'Print the tree',
      epic_id: 'syntax',
      status: 'in_progress',
      phase: 'agent',
      agent: 'claude',
      attempts: 1,
      started_at: 1_700_000_000,
      cost: 0.42,
      blocked_by: ['parse'],
    },
    { id: 'print-wide', title: 'Break wide lines', parent_id: 'print', epic_id: 'syntax' },
    { id: 'print-dark', title: 'Colours', parent_id: 'print', epic_id: 'syntax' },
    {
      id: 'check',
      title: 'Check types',
      epic_id: 'syntax',
      status: 'blocked',
      blocked_by: ['print'],
      waits_for: ['print'],
    },
    { id: 'serve', title: 'Serve over HTTP', epic_id: 'server', status: 'needs_review' },
    {
      id: 'store',
      title: 'Store on disk',
      epic_id: 'server',
      status: 'failed',
      attempts: 3,
      last_error: 'The gate ended with exit code 1.',
    },
    { id: 'readme', title: 'Write a README' },
    { id: 'icons', title: 'Draw icons', status: 'paused' },
  ]);
  const board = boardOf(tasks, [
    ['syntax', 'A language'],
    ['server', 'A server'],
  ]);
  return {
    ...board,
    run: runView({ epic_id: 'syntax' }),
    target: { branch: 'main', sha: '0123456789abcdef0123456789abcdef01234567', pending: 0 },
    questions: [
      questionView({
        id: 'q-run',
        task_id: 'print',
        request_id: 'q-run',
        text: 'May I run `npm install`?',
        choices: ['Allow', 'Deny'],
      }),
      questionView({
        id: 'q-which',
        task_id: 'print',
        kind: 'question',
        text: 'Which width?',
        choices: ['80', '100'],
        asked_at: 1_700_000_060,
      }),
      questionView({
        id: 'q-review',
        task_id: 'serve',
        kind: 'review',
        text: 'Review the change of Serve over HTTP.',
        choices: ['approve', 'send back'],
        asked_at: 1_700_000_120,
      }),
    ],
  };
}

const largeStatuses: readonly TaskStatus[] = taskStatuses.filter((status) => status !== 'claimed');

/** So many tasks in epics of 100, each blocked by the one before it in the epic. */
export function largeBoard(count = 10_000): StatusSnapshot {
  const epics: [string, string][] = [];
  const tasks = Array.from({ length: count }, (_, index): TaskGiven => {
    const epic = `epic-${Math.floor(index / 100)}`;
    const isFirst = index % 100 === 0;
    if (isFirst) epics.push([epic, `Epic number ${epics.length}`]);
    return {
      id: `task-${index}`,
      title: `Task number ${index}`,
      epic_id: epic,
      status: largeStatuses[index % largeStatuses.length] ?? 'ready',
      blocked_by: isFirst ? [] : [`task-${index - 1}`],
    };
  });
  return boardOf(numbered(tasks), epics);
}

type TaskGiven = Partial<TaskView> & { readonly id: string };

/** Tasks in their order; `epics`: id and title. */
export function boardOf(
  tasks: readonly TaskView[],
  epics: readonly (readonly [string, string])[] = [],
): StatusSnapshot {
  return snapshotOf(tasks, {
    seq: 100,
    epics: epics.map(([id, title]) => epicView({ id, title }, tasks)),
  });
}

export function numbered(tasks: readonly TaskGiven[]): TaskView[] {
  return tasks.map((task, index) => taskView({ position: index + 1, ...task }));
}
