// Everything that waits for a person as inbox items, with the possible actions of each. Pure.

import { listCandidates, candidateWords, landWords } from '../../server/protocol/candidates.ts';
import { statusWords } from '../shared/status-words.ts';
import { hasIgnoredResults } from '../../server/core/plan/task.ts';
import { describeWrongState, type WrongState } from '../../server/core/work/wrong-state.ts';
import { listNeeds, type EpicNeed, type Need, type TaskNeed } from '../../server/protocol/needs.ts';
import type {
  EpicView,
  HoldView,
  QuestionView,
  StatusSnapshot,
  TaskView,
} from '../../server/protocol/views.ts';

/** The actions that a person can take on an item, the usual one first. */
export type ItemAction =
  /** `title`: the label of the button, if it differs from the choice itself. */
  | { readonly kind: 'answer'; readonly choice: string; readonly title?: string }
  /** Shows the candidates' changes side by side. */
  | { readonly kind: 'compare' }
  | {
      readonly kind:
        | 'open'
        | 'review'
        | 'approve'
        | 'approveIgnored'
        | 'retry'
        | 'merge'
        | 'land'
        | 'retryAll'
        | 'gateOutput'
        | 'leaveOut'
        | 'worktrees';
    }
  /** Updates the branch and its checkout; `title` is the button's label. */
  | { readonly kind: 'follow'; readonly title: string }
  /** Asks for a text first. */
  | { readonly kind: 'sendBack' | 'resolve' | 'startAnyway' | 'agentMerges' | 'hintAndRetry' };

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
    | 'unlanded'
    | 'landed'
    | 'noRoom';
  /** The task or epic that the item is about, or null for the run. */
  readonly about: string | null;
  readonly isEpic: boolean;
  /** The tasks that its actions apply to, if it represents several. */
  readonly tasks?: readonly string[];
  readonly title: string;
  readonly text: string;
  /** Unix seconds. */
  readonly since: number;
  readonly questionId: string | null;
  /** The reviewed state: the action does not approve a plan that has changed since. */
  readonly seen?: string;
  readonly actions: readonly ItemAction[];
}

/** Items that block an agent or a run come first, then the oldest. */
export function inboxItems(board: StatusSnapshot): readonly InboxItem[] {
  return listNeeds(board)
    .map((need) => itemOf(need, board))
    .sort((a, b) => urgencyOf(a) - urgencyOf(b) || a.since - b.since || (a.key < b.key ? -1 : 1));
}

/** An agent that waits for an answer costs time now; a failure has already happened. */
function urgencyOf({ kind }: InboxItem): number {
  const order: { readonly [K in InboxItem['kind']]: number } = {
    permission: 0,
    question: 0,
    conflict: 1,
    review: 1,
    plan: 1,
    blocked: 1,
    unlanded: 1,
    noRoom: 1,
    failed: 2,
    landed: 3,
  };
  return order[kind];
}

function itemOf(need: Need, board: StatusSnapshot): InboxItem {
  switch (need.kind) {
    case 'question':
      return questionItem(need.question, need.task, board);
    case 'review':
    case 'plan':
    case 'conflict':
    case 'failed':
    case 'blocked':
      return taskItem(need.kind, need.task);
    case 'red_base':
      return redBaseItem(need.on, need.tasks);
    case 'epic_review':
    case 'epic_conflict':
    case 'epic_unlanded':
      return epicItem(need.kind, need.epic);
    case 'pending':
      return pendingItem(board, need.count);
    case 'wrong':
      return wrongItem(board, need.state);
    case 'no_room':
      return noRoomItem(need.hold);
  }
}

/**
 * One item for all candidates: their lines, and an action that lands each candidate that can be
 * chosen.
 */
function choiceOf(
  { task_id: id, choices }: QuestionView,
  task: TaskView | null,
  board: StatusSnapshot,
): Pick<InboxItem, 'text' | 'actions'> | null {
  const candidates = listCandidates(board.tasks, id);
  const chosen = candidates.filter((each) => choices.includes(each.id));
  if (chosen.length === 0) return null;
  const lines = candidates.map((each) => candidateWords(each, task, statusWords(each)) ?? '');
  return {
    text: ['Which candidate should land?', ...lines].join('\n'),
    actions: [
      ...(chosen.length > 1 ? [{ kind: 'compare' } as const] : []),
      ...chosen.map((each) => {
        return { kind: 'answer', choice: each.id, title: landWords(each) } as const;
      }),
      { kind: 'open' },
    ],
  };
}

function questionItem(
  question: QuestionView,
  task: TaskView | null,
  board: StatusSnapshot,
): InboxItem {
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
    ...choiceOf(question, task, board),
  };
}

function taskItem(need: TaskNeed, task: TaskView): InboxItem {
  const base = {
    key: `task/${task.id}`,
    about: task.id,
    isEpic: false,
    title: task.title,
    since: task.updated_at,
    questionId: null,
  };
  switch (need) {
    case 'plan':
      return {
        ...base,
        kind: 'plan',
        text: task.proposal?.text ?? 'Its plan waits for your approval.',
        ...(task.proposal === null ? {} : { seen: `plan-${task.proposal.number}` }),
        actions: planActions,
      };
    case 'review':
      return {
        ...base,
        kind: 'review',
        text: reviewText(task),
        actions: hasIgnoredResults(task) ? ignoredActions : reviewActions,
      };
    case 'conflict': {
      const files = task.conflict_files.join(', ');
      const text = `Its work conflicts with landed work: ${files === '' ? 'see its log' : files}`;
      return { ...base, kind: 'conflict', text, actions: conflictActions };
    }
    case 'failed': {
      const text = task.last_error ?? 'Failed.';
      return { ...base, kind: 'failed', text, actions: failedActions };
    }
    case 'blocked': {
      const text = task.blocked_reason ?? '';
      return { ...base, kind: 'blocked', text, actions: blockedActions };
    }
  }
}

const reviewActions: readonly ItemAction[] = [
  { kind: 'review' },
  { kind: 'approve' },
  { kind: 'sendBack' },
];
/** It has no change to show, because the files are in a snapshot. */
const ignoredActions: readonly ItemAction[] = [
  { kind: 'approveIgnored' },
  { kind: 'approve' },
  { kind: 'sendBack' },
];
const planActions: readonly ItemAction[] = [
  { kind: 'approve' },
  { kind: 'sendBack' },
  { kind: 'open' },
];
const conflictActions: readonly ItemAction[] = [
  { kind: 'merge' },
  { kind: 'agentMerges' },
  { kind: 'open' },
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

/** If there are several tasks, the one that must fix the branch is started from its page. */
const redBaseActions: readonly ItemAction[] = [
  { kind: 'retry' },
  { kind: 'gateOutput' },
  { kind: 'startAnyway' },
  { kind: 'open' },
];

const titlesMax = 5;

/** One item, however many tasks wait for the branch. */
function redBaseItem(on: string, tasks: readonly TaskView[]): InboxItem {
  const [first] = tasks;
  const isOne = tasks.length === 1;
  const titles = tasks.slice(0, titlesMax).map(({ title }) => `“${title}”`);
  const more = tasks.length - titles.length;
  const waiting = `${[...titles, ...(more > 0 ? [`${more} more`] : [])].join(', ')} wait for it.`;
  const reason = first?.blocked_reason ?? '';
  return {
    key: `red/${on}`,
    kind: 'blocked',
    about: first?.id ?? null,
    isEpic: false,
    tasks: tasks.map(({ id }) => id),
    title: isOne ? (first?.title ?? on) : `${tasks.length} tasks behind ${on}`,
    text: isOne ? reason : `${reason}\n${waiting}`,
    since: Math.min(...tasks.map(({ updated_at: at }) => at)),
    questionId: null,
    actions: isOne ? redBaseActions : [{ kind: 'retryAll' }, { kind: 'gateOutput' }],
  };
}

function reviewText(task: TaskView): string {
  if (hasIgnoredResults(task))
    return `Its result: ${task.verdict_reason ?? task.held_files.join(', ')}.`;
  if (task.held_files.length > 0)
    return `Its files were ${task.verdict_reason ?? `held back, never committed: ${task.held_files.join(', ')}`}.`;
  if (task.review_kind === 'protected')
    return `It ${task.verdict_reason ?? 'changes protected files'}. Review the change before it lands.`;
  if (task.review_kind === 'unmerged')
    return `It ${task.verdict_reason ?? 'leaves lines unmerged'}. Review the change before it lands.`;
  if (task.review_kind === 'reviewed')
    return `It ${task.verdict_reason ?? 'has findings of a reviewing agent'}. Review the change before it lands.`;
  return 'Its work waits for your review.';
}

function epicItem(need: EpicNeed, epic: EpicView): InboxItem {
  const base = {
    key: `epic/${epic.id}`,
    about: epic.id,
    isEpic: true,
    title: epic.title,
    since: epic.created_at,
    questionId: null,
  };
  switch (need) {
    case 'epic_review':
      return {
        ...base,
        kind: 'review',
        text: 'Every task in it is done. The epic waits for your review before it lands.',
        actions: reviewActions,
      };
    case 'epic_conflict':
      return {
        ...base,
        kind: 'conflict',
        text: epic.landing_note ?? 'It cannot land as a whole.',
        actions: [{ kind: 'review' }, { kind: 'land' }],
      };
    case 'epic_unlanded':
      return {
        ...base,
        kind: 'unlanded',
        text: 'Every task in it is done, and its work is on its own branch only.',
        actions: [{ kind: 'land' }, { kind: 'review' }],
      };
  }
}

function noRoomItem({ reason, since }: HoldView): InboxItem {
  return {
    key: 'no_room',
    kind: 'noRoom',
    about: null,
    isEpic: false,
    title: 'The worktrees take all their space',
    text: reason,
    since,
    questionId: null,
    actions: [{ kind: 'worktrees' }],
  };
}

function pendingItem({ target }: StatusSnapshot, pending: number): InboxItem {
  const count = pending === 1 ? '1 commit waits' : `${pending} commits wait`;
  return {
    key: 'pending',
    kind: 'landed',
    about: null,
    isEpic: false,
    title: target?.branch ?? 'the target branch',
    text: [`${count} for your checkout.`, target?.pending_reason ?? ''].join(' ').trimEnd(),
    since: 0,
    questionId: null,
    actions: [{ kind: 'follow', title: 'Try Again' }],
  };
}

function wrongItem({ target }: StatusSnapshot, state: WrongState): InboxItem {
  const branch = target?.branch ?? '';
  return {
    key: `wrong/${state.kind}`,
    kind: 'landed',
    about: null,
    isEpic: false,
    title: branch,
    text: describeWrongState(branch, state),
    since: 0,
    questionId: null,
    actions: wrongActions(state),
  };
}

function wrongActions({ kind }: WrongState): readonly ItemAction[] {
  switch (kind) {
    case 'old':
      return [{ kind: 'follow', title: 'Update Files' }];
    case 'missing':
      return [{ kind: 'follow', title: 'Restore Files' }];
    case 'moved_back':
      return [{ kind: 'follow', title: 'Bring Back' }, { kind: 'leaveOut' }];
  }
}
