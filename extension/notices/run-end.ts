// The message at the end of a run: what landed where, what failed, what waits for a person, the
// time and the cost. Pure.

import { formatCost, formatCount, formatDuration } from '../../server/core/format.ts';
import type { Report } from '../../server/core/history/report.ts';
import { needsOf, type Need } from '../../server/protocol/needs.ts';
import type { RunView, StatusSnapshot } from '../../server/protocol/views.ts';
import type { Notice, NoticeButton } from './notices.ts';

const showRun: NoticeButton = { title: 'Show Run', action: { kind: 'run' } };
const openInbox: NoticeButton = { title: 'Open Inbox', action: { kind: 'inbox' } };
const shaChars = 8;

/**
 * Remembers which run was active: its end is reported once, and only by a window that saw it
 * active.
 */
export class RunEnds {
  #active: string | null = null;

  /** The run that has just ended, null when none has. */
  ended({ run }: StatusSnapshot): RunView | null {
    const before = this.#active;
    this.#active = run?.active === true ? run.id : null;
    return run !== null && !run.active && run.id === before ? run : null;
  }
}

/** Null: a run that was stopped, whose end is not news to the person who stopped it. */
export function runEndNotice(whole: Report, board: StatusSnapshot, run: RunView): Notice | null {
  if (whole.state !== 'finished') return null;
  const report = ofItsTasks(whole, run);
  const failed = report.left.filter(({ status }) => status === 'failed').map(({ id }) => id);
  const waits = needsOf(board).filter((need) => isOf(need, report, run) && need.kind !== 'failed');
  const rest = report.left.length - failed.length - waits.filter(isOfTask).length;
  const parts = [
    landedText(report, board, run),
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(waits.length > 0
      ? [`${waits.length} ${waits.length === 1 ? 'waits' : 'wait'} for you`]
      : []),
    ...(rest > 0 ? [`${rest} not done`] : []),
    formatDuration(report.duration_ms),
    ...(report.cost.usd > 0 ? [formatCost(report.cost.usd)] : []),
  ];
  const isBad = failed.length > 0 || waits.length > 0;
  const retry: NoticeButton = {
    title: failed.length === 1 ? 'Retry Failed' : `Retry ${failed.length} Failed`,
    action: { kind: 'retryFailed', ids: failed },
  };
  return {
    key: `run ${run.id} ${run.ended_at ?? 0}`,
    level: isBad ? 'warning' : 'info',
    text: `${titleOf(board, run)}: ${parts.join(', ')}.`,
    buttons: [
      showRun,
      ...(waits.length > 0 ? [openInbox] : []),
      ...(failed.length > 0 ? [retry] : []),
    ],
    isBlocking: isBad,
  };
}

/** What a run of single tasks was not asked for is not left by it. */
function ofItsTasks(report: Report, { tasks }: RunView): Report {
  if (tasks === undefined) return report;
  return { ...report, left: report.left.filter(({ id }) => tasks.includes(id)) };
}

function titleOf(board: StatusSnapshot, { epic_id: epicId, tasks }: RunView): string {
  if (tasks === undefined) {
    return board.epics.find(({ id }) => id === epicId)?.title ?? 'All open tasks';
  }
  const named = board.tasks.filter(({ id, parent_id }) => parent_id === null && tasks.includes(id));
  const [only] = named;
  return named.length === 1 && only !== undefined
    ? only.title
    : formatCount(named.length, 'chosen task');
}

function landedText({ landed }: Report, board: StatusSnapshot, run: RunView): string {
  if (landed.length === 0) return 'nothing landed';
  const epic = board.epics.find(({ id }) => id === run.epic_id);
  const last = landed.at(-1);
  // By epic the tasks land on the epic's own branch first; the target has them once the epic has
  // landed.
  const isOnTarget = run.land === 'task' || epic?.landing_state === 'landed';
  if (!isOnTarget)
    return `${formatCount(landed.length, 'task')} done, not on ${run.target_branch} yet`;
  const sha = (run.land === 'task' ? last?.sha : epic?.landed_sha)?.slice(0, shaChars);
  const at = sha === undefined ? '' : ` (${sha})`;
  return `${landed.length} landed on ${run.target_branch}${at}`;
}

/** Items outside the run have been reported before. */
function isOf(need: Need, report: Report, run: RunView): boolean {
  switch (need.kind) {
    case 'pending':
      return true;
    case 'epic_review':
    case 'epic_conflict':
      return run.epic_id === null || need.epic.id === run.epic_id;
    case 'question':
    case 'review':
    case 'plan':
    case 'conflict':
    case 'failed':
    case 'blocked':
      return report.left.some(({ id }) => id === need.task?.id);
  }
}

function isOfTask(need: Need): boolean {
  return 'task' in need;
}
