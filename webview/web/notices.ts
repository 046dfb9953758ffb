// System notifications for questions that arrive while the page is open but not visible. The
// service worker shows them, because browsers on phones support no other way.

import type { Need } from '../../server/protocol/needs.ts';
import { placeKey, panelPlace } from './places.ts';

export interface PageNotice {
  /** If two have the same key, the later one replaces the other. */
  readonly key: string;
  readonly title: string;
  readonly text: string;
  /** A task, an epic or a question. */
  readonly about: string;
}

const textMax = 200;

/** Returns null for needs that do not represent a single item. */
export function noticeOf(need: Need): PageNotice | null {
  switch (need.kind) {
    case 'question': {
      const { id, text } = need.question;
      return notice(`question/${id}`, need.task?.title ?? 'Question', text, id);
    }
    case 'review':
      return notice(`review/${need.task.id}`, need.task.title, 'Needs a review.', need.task.id);
    case 'plan':
      return notice(
        `plan/${need.task.id}`,
        need.task.title,
        'Has a plan to approve.',
        need.task.id,
      );
    case 'conflict':
      return notice(`conflict/${need.task.id}`, need.task.title, 'Has a conflict.', need.task.id);
    case 'failed':
      return notice(`failed/${need.task.id}`, need.task.title, 'Failed.', need.task.id);
    case 'blocked':
    case 'red_base':
    case 'epic_review':
    case 'epic_conflict':
    case 'epic_unlanded':
    case 'pending':
    case 'wrong':
    case 'no_room':
      return null;
  }
}

export class PageNotices {
  /** The keys from each project's last board, once it was read. */
  readonly #known = new Map<string, ReadonlySet<string>>();

  /** The user can be asked for permission, and has not been asked yet. */
  get canAsk(): boolean {
    return isAble() && Notification.permission === 'default';
  }

  async ask(): Promise<void> {
    await Notification.requestPermission();
  }

  /** Shows the new needs on this project's board, unless the user can see the page. */
  hear(project: string, needs: readonly Need[]): void {
    const notices = needs.map(noticeOf).filter((each) => each !== null);
    const known = this.#known.get(project);
    this.#known.set(project, new Set(notices.map(({ key }) => key)));
    if (known === undefined || !document.hidden) return;
    for (const each of notices) if (!known.has(each.key)) void show(project, each);
  }
}

function notice(key: string, title: string, text: string, about: string): PageNotice {
  return { key, title, text: text.slice(0, textMax), about };
}

function isAble(): boolean {
  return 'Notification' in window && 'serviceWorker' in navigator;
}

async function show(project: string, { key, title, text, about }: PageNotice): Promise<void> {
  if (!isAble() || Notification.permission !== 'granted') return;
  const worker = await navigator.serviceWorker.ready;
  const hash = `#/~${project}/${placeKey(panelPlace('inbox', about))}`;
  await worker.showNotification(title, { tag: `${project}/${key}`, body: text, data: { hash } });
}
