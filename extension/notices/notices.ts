// Decides which changes of the board deserve a message: only changes that wait for a person, each
// once. Pure.

import { describeWrongState, type WrongState } from '../../server/core/work/wrong-state.ts';
import { listCandidates, landWords } from '../../server/protocol/candidates.ts';
import { formatCount } from '../../server/core/format.ts';
import { listNeeds, type Need } from '../../server/protocol/needs.ts';
import type {
  EpicView,
  HoldView,
  QuestionView,
  StatusSnapshot,
  TaskView,
} from '../../server/protocol/views.ts';

export type NoticeAction =
  | { readonly kind: 'answer'; readonly question: string; readonly choice: string }
  | { readonly kind: 'stream'; readonly task: string }
  /** Id of a task or an epic. */
  | { readonly kind: 'review'; readonly id: string }
  | { readonly kind: 'merge'; readonly task: string }
  | { readonly kind: 'retry'; readonly task: string }
  | { readonly kind: 'retryFailed'; readonly ids: readonly string[] }
  | { readonly kind: 'run' }
  | { readonly kind: 'inbox' };

export interface NoticeButton {
  readonly title: string;
  readonly action: NoticeAction;
}

export interface Notice {
  /** The same item has the same key, so that it is reported once. */
  readonly key: string;
  readonly level: 'info' | 'warning';
  readonly text: string;
  readonly buttons: readonly NoticeButton[];
  /** True if an agent or the whole run is blocked until it is answered. */
  readonly isBlocking: boolean;
}

/** Several at the same time become one message. */
const noticesAtOnceMax = 2;
const answersMax = 2;
const inbox: NoticeButton = { title: 'Open Inbox', action: { kind: 'inbox' } };

/** Everything on the board that waits for a person. */
export function openNotices(board: StatusSnapshot): readonly Notice[] {
  return listNeeds(board).flatMap((need) => noticeOf(need, board));
}

function noticeOf(need: Need, board: StatusSnapshot): readonly Notice[] {
  switch (need.kind) {
    case 'question':
      return [questionNotice(need.question, need.task?.title, board)];
    case 'review':
    case 'plan':
    case 'conflict':
    case 'failed':
    case 'blocked':
      return taskNotice(need.task);
    case 'epic_review':
    case 'epic_conflict':
      return [epicNotice(need.epic)];
    case 'red_base': // no agent has started, and the run's end reports it
      return [];
    case 'epic_unlanded': // the inbox has it, and often a run lands it the next moment
      return [];
    case 'pending':
      return []; // the run's own warning has already reported it
    case 'wrong':
      return [wrongNotice(need.state, board.target?.branch ?? '')];
    case 'no_room':
      return [noRoomNotice(need.hold)];
  }
}

function wrongNotice(state: WrongState, branch: string): Notice {
  const key = state.kind === 'moved_back' ? state.tip : state.to;
  return {
    key: `wrong ${state.kind} ${key}`,
    level: 'warning',
    text: describeWrongState(branch, state),
    buttons: [inbox],
    isBlocking: false,
  };
}

function noRoomNotice({ reason, since }: HoldView): Notice {
  return {
    key: `no_room ${since}`,
    level: 'warning',
    text: reason,
    buttons: [inbox],
    isBlocking: true,
  };
}

function epicNotice(epic: EpicView): Notice {
  const isReview = epic.landing_state === 'needs_review';
  const why = epic.landing_note ?? 'Its tasks are done, but together they cannot land.';
  return {
    key: `epic ${epic.landing_state ?? ''} ${epic.id}`,
    level: isReview ? 'info' : 'warning',
    text: isReview
      ? `The epic ${epic.title} is done and waits for your review.`
      : `The epic ${epic.title} cannot land. ${why}`,
    buttons: [{ title: 'Review', action: { kind: 'review', id: epic.id } }, inbox],
    isBlocking: !isReview,
  };
}

function questionNotice(
  question: QuestionView,
  title = question.task_id,
  { tasks }: Pick<StatusSnapshot, 'tasks'>,
): Notice {
  const chosen = listCandidates(tasks, question.task_id).filter(({ id }) =>
    question.choices.includes(id),
  );
  const titles = new Map(chosen.map((each) => [each.id, landWords(each)]));
  const answers =
    question.choices.length > answersMax
      ? []
      : question.choices.map((choice): NoticeButton => {
          const words = titles.get(choice) ?? choice;
          return { title: words, action: { kind: 'answer', question: question.id, choice } };
        });
  return {
    key: `question ${question.id}`,
    level: 'warning',
    text: `${title}: ${chosen.length === 0 ? question.text : 'Which candidate should land?'}`,
    buttons: [...answers, inbox],
    isBlocking: true,
  };
}

/** Each revised plan is reported again. */
function planKey({ id, proposal }: TaskView): string {
  return `plan ${id} ${proposal?.number ?? 0}`;
}

function taskNotice(task: TaskView): readonly Notice[] {
  const key = `${task.status} ${task.id} ${task.attempts} ${task.review_kind ?? ''}`;
  const stream: NoticeButton = { title: 'Show', action: { kind: 'stream', task: task.id } };
  switch (task.status) {
    case 'needs_review':
      if (task.review_kind === 'plan') {
        const text = `The plan of ${task.title} waits for your approval.`;
        return [
          { key: planKey(task), level: 'info', text, buttons: [inbox, stream], isBlocking: false },
        ];
      }
      return [
        {
          key,
          level: 'info',
          text: `${task.title} waits for your review.`,
          buttons: [{ title: 'Review', action: { kind: 'review', id: task.id } }, stream],
          isBlocking: false,
        },
      ];
    case 'conflict':
      return [
        {
          key,
          level: 'warning',
          text: `${task.title} conflicts with landed work (${formatCount(task.conflict_files.length, 'file')}).`,
          buttons: [{ title: 'Merge in Editor', action: { kind: 'merge', task: task.id } }, stream],
          isBlocking: true,
        },
      ];
    case 'failed': {
      const why = task.last_error === null ? 'It has no attempts left.' : task.last_error;
      return [
        {
          key,
          level: 'warning',
          text: `${task.title} failed. ${why}`,
          buttons: [stream, { title: 'Retry', action: { kind: 'retry', task: task.id } }],
          isBlocking: true,
        },
      ];
    }
    default:
      return [];
  }
}

/** False if the subject of the message has been resolved since. */
export function isStillOpen(notice: Notice, board: StatusSnapshot): boolean {
  const keys = new Set(openNotices(board).map(({ key }) => key));
  return notice.key.split('\n').some((key) => keys.has(key));
}

/**
 * Remembers the reported changes. The first board of a window reports nothing, because the inbox
 * shows everything.
 */
export class NoticeMemory {
  #known: ReadonlySet<string> | null = null;

  fresh(board: StatusSnapshot): readonly Notice[] {
    const open = openNotices(board);
    const known = this.#known;
    this.#known = new Set(open.map(({ key }) => key));
    return known === null ? [] : open.filter(({ key }) => !known.has(key));
  }
}

export type NotificationLevel = 'all' | 'blocking' | 'none';

/** Returns the new ones to show, limited to what a person can read at the same time. */
export function toShow(fresh: readonly Notice[], level: NotificationLevel): readonly Notice[] {
  const wanted =
    level === 'none' ? [] : fresh.filter(({ isBlocking }) => isBlocking || level === 'all');
  if (wanted.length <= noticesAtOnceMax) return wanted;
  return [
    {
      key: wanted.map(({ key }) => key).join('\n'),
      level: 'warning',
      text: `${wanted.length} things wait for you.`,
      buttons: [{ title: 'Open Inbox', action: { kind: 'inbox' } }],
      isBlocking: true,
    },
  ];
}
