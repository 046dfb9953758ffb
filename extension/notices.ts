// Which changes of the board are worth a message: only what waits for a person, each once. Pure.

import type { QuestionView, StatusSnapshot, TaskView } from '../server/protocol/views.ts';

export type NoticeAction =
  | { readonly kind: 'answer'; readonly question: string; readonly choice: string }
  | { readonly kind: 'stream'; readonly task: string }
  | { readonly kind: 'review'; readonly task: string }
  | { readonly kind: 'resolve'; readonly task: string }
  | { readonly kind: 'retry'; readonly task: string }
  | { readonly kind: 'inbox' };

export interface NoticeButton {
  readonly title: string;
  readonly action: NoticeAction;
}

export interface Notice {
  /** The same thing has the same key: it is told once. */
  readonly key: string;
  readonly level: 'info' | 'warning';
  readonly text: string;
  readonly buttons: readonly NoticeButton[];
  /** True: an agent or the whole run stands still for it. */
  readonly isBlocking: boolean;
}

/** Several at once are told as one. */
const noticesAtOnceMax = 2;
const answersMax = 2;
const inbox: NoticeButton = { title: 'Open Inbox', action: { kind: 'inbox' } };

/** Everything on the board that waits for a person. */
export function openNotices(board: StatusSnapshot): readonly Notice[] {
  const titles = new Map(board.tasks.map((task) => [task.id, task.title]));
  const asked = new Set(board.questions.map(({ task_id }) => task_id));
  return [
    ...board.questions.map((question) => questionNotice(question, titles.get(question.task_id))),
    ...board.tasks.flatMap((task) => (asked.has(task.id) ? [] : taskNotice(task))),
  ];
}

function questionNotice(question: QuestionView, title = question.task_id): Notice {
  const answers =
    question.choices.length > answersMax
      ? []
      : question.choices.map((choice): NoticeButton => {
          return { title: choice, action: { kind: 'answer', question: question.id, choice } };
        });
  return {
    key: `question ${question.id}`,
    level: 'warning',
    text: `${title}: ${question.text}`,
    buttons: [...answers, inbox],
    isBlocking: true,
  };
}

/** Each further plan is news. */
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
          buttons: [{ title: 'Review', action: { kind: 'review', task: task.id } }, stream],
          isBlocking: false,
        },
      ];
    case 'conflict':
      return [
        {
          key,
          level: 'warning',
          text: `${task.title} conflicts with what has landed (${task.conflict_files.length} files).`,
          buttons: [{ title: 'Resolve', action: { kind: 'resolve', task: task.id } }, stream],
          isBlocking: true,
        },
      ];
    case 'failed': {
      const why = task.last_error === null ? 'It has no attempts left.' : task.last_error;
      return [
        {
          key,
          level: 'warning',
          text: `${task.title} has failed. ${why}`,
          buttons: [stream, { title: 'Retry', action: { kind: 'retry', task: task.id } }],
          isBlocking: true,
        },
      ];
    }
    default:
      return [];
  }
}

/** Remembers what has been told; the first board of a window tells nothing, the inbox shows it all. */
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

/** What is shown of the fresh ones: not more than a person can take in at once. */
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
