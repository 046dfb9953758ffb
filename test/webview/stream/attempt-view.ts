// An attempt with sensible values.

import type { AttemptView } from '../../../server/protocol/panel-views.ts';
import { at } from './fake-log.ts';

export const taskId = 'print';

export function attemptView(change: Partial<AttemptView> = {}): AttemptView {
  return {
    task_id: taskId,
    number: 1,
    state: 'running',
    agent: 'claude',
    model: null,
    session_id: '00000000-0000-4000-8000-000000000000',
    branch: 'drover/print',
    base_sha: null,
    commit_sha: null,
    worktree_path: '/home/person/project/.drover/worktrees/1',
    machine: null,
    started_at_ms: at(0),
    ended_at_ms: null,
    failure_kind: null,
    error: null,
    summary: null,
    input_tokens: 1_200,
    output_tokens: 340,
    cost: 0.42,
    steps: [
      { name: 'worktree', started_at_ms: at(0), ended_at_ms: at(0) + 80, outcome: 'done' },
      { name: 'setup', started_at_ms: at(1), ended_at_ms: at(3), outcome: 'done' },
      { name: 'agent', started_at_ms: at(3), ended_at_ms: null, outcome: 'running' },
    ],
    ...change,
  };
}
