// Everything that waits for a person, oldest first: questions, reviews, conflicts, what is blocked from outside, failures,
// and landed work that waits for a checkout. Pure.

import type {
  EpicView,
  QuestionView,
  StatusSnapshot,
  TaskView,
} from '../../server/protocol/views.ts';

/** What a person can do about an item; the first one is the usual one. */
export type ItemAction =
  | { readonly kind: 'answer'; readonly choice: string }
  | { readonly kind: 'open' | 'review' | 'approve' | 'retry' | 'worktree' }
  /** Asks for words first. */
  | { readonly kind: 'sendBack' | 'resolve' | 'hintAndRetry' };

export interface InboxItem {
  readonly key: string;
  readonly kind:
    | 'question'
    | 'permission'
    | 'review'
    | 'plan'
    | 'conflict'
    | 'blocked'
    | 'failed'
    | 'landed';
  /** The task or epic that it is about; null: the run. */
  readonly about: string | null;
  readonly isEpic: boolean;
  readonly title: string;
  readonly text: string;
  /** Unix seconds. */
  readonly since: number;
  readonly questionId: string | null;
  /** What was looked at: a plan that has changed since is not approved by it. */
  readonly seen?: string;
  readonly actions: readonly ItemAction[];
}

export function inboxItems(board: StatusSnapshot): readonly InboxItem[] {
  const tasks = new Map(board.tasks.map((task) => [task.id, task]));
  const asked = board.questions
    .filter((question) => question.state === 'open' && !isReviewOf(question, tasks))
    .map((question) => questionItem(question, tasks.get(question.task_id)));
  const waiting = board.tasks.flatMap((task) => taskItem(task) ?? []);
  const epics = board.epics.flatMap((epic) => epicItem(epic) ?? []);
  const items = [...asked, ...waiting, ...epics].sort(
    (a, b) => a.since - b.since || (a.key < b.key ? -1 : 1),
  );
  const pending = pendingItem(board);
  return pending === null ? items : [...items, pending];
}

/** The task itself says that it waits for a review, with all that can be done about it. */
function isReviewOf(question: QuestionView, tasks: ReadonlyMap<string, TaskView>): boolean {
  return question.kind === 'review' && tasks.get(question.task_id)?.status === 'needs_review';
}

function questionItem(question: QuestionView, task: TaskView | undefined): InboxItem {
  return {
    key: `question/${question.id}`,
    kind: question.kind === 'permission' ? 'permission' : question.kind,
    about: question.task_id,
    isEpic: false,
    title: task?.title ?? question.task_id,
    text: question.text,
    since: question.asked_at,
    questionId: question.id,
    actions: [
      ...question.choices.map((choice) => ({ kind: 'answer', choice }) as const),
      { kind: question.kind === 'review' ? 'review' : 'open' },
    ],
  };
}

/** Null: it does not wait for a person. */
function taskItem(task: TaskView): InboxItem | null {
  const base = {
    key: `task/${task.id}`,
    about: task.id,
    isEpic: false,
    title: task.title,
    since: task.updated_at,
    questionId: null,
  };
  switch (task.status) {
    case 'needs_review':
      return task.review_kind === 'plan'
        ? {
            ...base,
            kind: 'plan',
            text: task.proposal?.text ?? 'Its plan waits for your approval.',
            ...(task.proposal === null ? {} : { seen: `plan-${task.proposal.number}` }),
            actions: planActions,
          }
        : { ...base, kind: 'review', text: reviewText(task), actions: reviewActions };
    case 'conflict': {
      const files = task.conflict_files.join(', ');
      const text = `Its work conflicts with what has landed: ${files === '' ? 'see its log' : files}`;
      return { ...base, kind: 'conflict', text, actions: conflictActions };
    }
    case 'failed':
      return {
        ...base,
        kind: 'failed',
        text: task.last_error ?? 'Failed.',
        actions: failedActions,
      };
    case 'blocked':
      if (task.blocked_reason === null) return null;
      return { ...base, kind: 'blocked', text: task.blocked_reason, actions: blockedActions };
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'paused':
    case 'waiting':
    case 'completed':
    case 'cancelled':
      return null;
  }
}

const reviewActions: readonly ItemAction[] = [
  { kind: 'review' },
  { kind: 'approve' },
  { kind: 'sendBack' },
];
const planActions: readonly ItemAction[] = [
  { kind: 'approve' },
  { kind: 'sendBack' },
  { kind: 'open' },
];
const conflictActions: readonly ItemAction[] = [
  { kind: 'worktree' },
  { kind: 'resolve' },
  { kind: 'retry' },
];
const failedActions: readonly ItemAction[] = [
  { kind: 'retry' },
  { kind: 'hintAndRetry' },
  { kind: 'open' },
];
const blockedActions: readonly ItemAction[] = [
  { kind: 'resolve' },
  { kind: 'retry' },
  { kind: 'open' },
];

function reviewText(task: TaskView): string {
  if (task.held_files.length > 0)
    return `It holds files that are never committed by themselves: ${task.held_files.join(', ')}`;
  return 'Its work waits for your review.';
}

function epicItem(epic: EpicView): InboxItem | null {
  const base = {
    key: `epic/${epic.id}`,
    about: epic.id,
    isEpic: true,
    title: epic.title,
    since: epic.created_at,
    questionId: null,
  };
  switch (epic.landing_state) {
    case 'needs_review':
      return {
        ...base,
        kind: 'review',
        text: 'Everything in it is done; as a whole it waits for your review.',
        actions: reviewActions,
      };
    case 'conflict':
    case 'gate_failed':
      return {
        ...base,
        kind: 'conflict',
        text: epic.landing_note ?? 'It cannot land as a whole.',
        actions: [{ kind: 'review' }],
      };
    default:
      return null;
  }
}

function pendingItem({ target }: StatusSnapshot): InboxItem | null {
  if (target === null || target.pending === 0) return null;
  const count = target.pending === 1 ? '1 commit waits' : `${target.pending} commits wait`;
  return {
    key: 'pending',
    kind: 'landed',
    about: null,
    isEpic: false,
    title: target.branch ?? 'the target branch',
    text: `${count} for your checkout: commit, stash or undo your own changes that are in the way.`,
    since: 0,
    questionId: null,
    actions: [],
  };
}
