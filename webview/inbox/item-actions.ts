// The label and action of each button of the inbox.

import type { Host } from '../shared/host.ts';
import type { InboxItem, ItemAction } from './inbox-items.ts';

export function actionTitle(action: ItemAction): string {
  switch (action.kind) {
    case 'answer':
      return action.title ?? action.choice;
    case 'compare':
      return 'Compare';
    case 'open':
      return 'Open';
    case 'review':
      return 'Review';
    case 'approve':
      return 'Approve';
    case 'approveIgnored':
      return 'Land Ignored Files';
    case 'retry':
      return 'Retry';
    case 'merge':
      return 'Merge in Editor';
    case 'retryAll':
      return 'Retry All';
    case 'land':
      return 'Land Epic';
    case 'sendBack':
      return 'Send Back…';
    case 'resolve':
      return 'Resolve…';
    case 'gateOutput':
      return 'Gate Output';
    case 'startAnyway':
      return 'Start Anyway…';
    case 'agentMerges':
      return 'Let the Agent Merge…';
    case 'hintAndRetry':
      return 'Retry with a Hint…';
    case 'follow':
      return action.title;
    case 'leaveOut':
      return 'Leave Out';
    case 'worktrees':
      return 'Show Worktrees';
  }
}

/** The prompt of the text field. Returns null if the action needs no text. */
export function wordsAsked(action: ItemAction): string | null {
  switch (action.kind) {
    case 'sendBack':
      return 'What should be different?';
    case 'resolve':
    case 'startAnyway':
      return 'What should the agent know? (optional)';
    case 'agentMerges':
      return 'How do the two changes belong together?';
    case 'hintAndRetry':
      return 'What should the agent know?';
    case 'answer':
    case 'open':
    case 'review':
    case 'approve':
    case 'approveIgnored':
    case 'retry':
    case 'merge':
    case 'retryAll':
    case 'land':
    case 'compare':
    case 'gateOutput':
    case 'follow':
    case 'leaveOut':
    case 'worktrees':
      return null;
  }
}

/** The action also works without a text. */
export function mayBeBlank({ kind }: ItemAction): boolean {
  return kind === 'resolve' || kind === 'startAnyway';
}

export async function runItemAction(
  host: Host,
  item: InboxItem,
  action: ItemAction,
  words: string,
): Promise<void> {
  const id = item.about ?? '';
  switch (action.kind) {
    case 'answer':
      if (item.questionId === null) return;
      await host.backend('answer', { id: item.questionId, choice: action.choice });
      return;
    case 'open':
      await host.action('openStream', { task: id });
      return;
    case 'review':
      await host.action('review', { id });
      return;
    case 'approve':
      await host.backend('approve', {
        id,
        ...(item.seen === undefined ? {} : { seen: item.seen }),
      });
      return;
    case 'approveIgnored':
      await host.backend('approve', { id, with_ignored: true });
      return;
    case 'retry':
      await host.action('retry', { task: id });
      return;
    case 'merge':
      await host.action('mergeConflict', { task: id });
      return;
    case 'retryAll':
      await host.action('retryFailed', { ids: item.tasks ?? [] });
      return;
    case 'land':
      await host.action('landEpic', { epic: id });
      return;
    case 'sendBack':
      await host.action('sendBack', { id, text: words });
      return;
    case 'resolve':
    case 'agentMerges':
      await host.action('resolve', { task: id, note: words });
      return;
    case 'startAnyway':
      await host.action('resolve', { task: id, note: words, anyway: true });
      return;
    case 'compare':
      await host.action('compare', { task: id });
      return;
    case 'gateOutput':
      await host.action('openStepLog', { task: id, attempt: 0, step: 'gate' });
      return;
    case 'follow':
      await host.backend('target.follow', {});
      return;
    case 'leaveOut':
      await host.backend('target.follow', { leave_out: true });
      return;
    case 'worktrees':
      await host.action('openWorktrees', {});
      return;
    case 'hintAndRetry':
      await host.backend('task.hint', { id, text: words });
      await host.action('retry', { task: id });
      return;
  }
}
