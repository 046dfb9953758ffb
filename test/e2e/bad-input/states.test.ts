// Commands on tasks, epics and questions whose state does not allow them.

import { tableHere, type Row } from './support/check.ts';

function badState(args: readonly string[], ...words: Row['words']): Row {
  return { title: args.join(' '), args, code: 3, kind: 'bad_state', words };
}

const rows: readonly Row[] = [
  badState(['pause', 'COMPLETED'], 'COMPLETED', 'completed', 'drover reset'),
  badState(['pause', 'SUB'], 'SUB', 'sub-task', 'PARENT'),
  badState(['resume-task', 'A'], 'A is ready', 'paused'),
  badState(['unpause', 'COMPLETED'], 'COMPLETED is completed', 'paused'),
  badState(['cancel', 'COMPLETED'], 'COMPLETED is completed', 'drover undo'),
  badState(['retry', 'A'], 'A is ready', "can't be retried", 'drover run'),
  badState(['retry', 'COMPLETED'], 'COMPLETED is completed', 'drover reset'),
  badState(['retry', 'SUB'], 'SUB', 'sub-task', 'PARENT'),
  badState(
    ['hint', 'COMPLETED', 'Look'],
    'COMPLETED is completed',
    'a hint would not reach an agent',
  ),
  badState(['hint', 'CANCELLED', 'Look'], 'CANCELLED is cancelled', 'drover retry'),
  badState(['approve', 'A'], 'A is ready', 'needs a review', 'drover run'),
  badState(['approve', 'EPIC-1'], 'EPIC-1', 'approval', 'drover run --epic EPIC-1 --land review'),
  badState(['send-back', 'A', 'No'], 'A is ready', 'needs a review', 'drover run'),
  badState(['send-back', 'EPIC-1', 'No'], 'EPIC-1', 'approval'),
  badState(['resolve', 'A', '--note', 'done'], 'A is ready', 'blocked from outside', 'conflict'),
  badState(['answer', 'Q-CLOSED', 'a'], 'Q-CLOSED', 'already answered', 'drover'),
  {
    title: 'answer Q-OPEN with what is no choice',
    args: ['answer', 'Q-OPEN', 'perhaps'],
    code: 3,
    kind: 'bad_choice',
    words: ['Q-OPEN', 'perhaps', 'keep, remove'],
  },
  {
    title: 'a blank hint',
    args: ['hint', 'A', '  '],
    code: 3,
    kind: 'bad_request',
    words: ['hint', 'must not be empty'],
  },
  {
    title: 'send-back without a word',
    args: ['send-back', 'A', ' '],
    code: 3,
    kind: 'bad_request',
    words: ['State what'],
  },
  {
    title: 'close of an epic with open tasks',
    args: ['epic', 'close', 'EPIC-1'],
    code: 3,
    kind: 'epic_open',
    words: ['EPIC-1', 'A (ready)', 'B (blocked)', 'cancel'],
  },
  {
    title: 'diff of a task without a commit',
    args: ['diff', 'A'],
    code: 3,
    kind: 'no_change',
    words: ['A', 'commit', 'ready', 'drover run'],
  },
  {
    title: 'diff of an epic without a commit',
    args: ['diff', 'EPIC-1'],
    code: 3,
    kind: 'no_change',
    words: ['EPIC-1', 'commit', 'drover run'],
  },
  {
    title: 'the prompt of a task that no agent has had',
    args: ['log', 'A', '--prompt'],
    code: 3,
    kind: 'no_prompt',
    words: ['A', 'drover run'],
  },
  {
    title: 'the log of an attempt that there was not',
    args: ['log', 'A', '--attempt', '7'],
    code: 3,
    kind: 'unknown_id',
    words: ['A', 'attempt 7', 'drover'],
  },
  {
    title: 'events after a number below zero',
    args: ['events', '--after', '-1'],
    code: 3,
    words: ['"after"', 'from 0'],
  },
];

tableHere('what the state does not allow', rows);
