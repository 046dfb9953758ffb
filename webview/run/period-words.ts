// The name and color of each kind of time in a run.

import type { PeriodKind } from '../../server/core/history/task-story.ts';

export const periodWords: { readonly [K in PeriodKind]: string } = {
  agent: 'Agent running',
  setup: 'Worktree and setup',
  landing: 'Gate and landing',
  blocked: 'Waiting for a dependency',
  queued: 'Waiting for a free worker',
  retry: 'Delay before a retry',
  quota: 'Waiting for quota',
  review: 'Waiting for your review',
  question: 'Waiting for your answer',
  conflict: 'In conflict',
  paused: 'Paused',
};

export type PartTone = 'agent' | 'setup' | 'landing' | 'person' | 'wait';

export function toneForKind(kind: PeriodKind): PartTone {
  switch (kind) {
    case 'agent':
    case 'setup':
    case 'landing':
      return kind;
    case 'review':
    case 'question':
    case 'conflict':
    case 'paused':
      return 'person';
    case 'blocked':
    case 'queued':
    case 'retry':
    case 'quota':
      return 'wait';
  }
}
