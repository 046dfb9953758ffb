// The message at the end of a run: the landed work and its branch, the failures, the items that
// wait for a person, the time and the cost. Pure.

import { formatCost, formatCount, formatDuration } from '../../server/core/format.ts';
import type { Report } from '../../server/core/history/report.ts';
import { unusableKinds } from '../../server/core/work/fallback.ts';
import {
  countOutcomes,
  outcomesOfTasks,
  type TaskOutcome,
} from '../../server/core/plan/outcome.ts';
import { outcomeParts, type OutcomePlace } from '../../server/core/plan/outcome-words.ts';
import { type EpicNeed, listNeeds, type Need } from '../../server/protocol/needs.ts';
import type { RunView, StatusSnapshot } from '../../server/protocol/views.ts';
import type { Notice, NoticeButton } from './notices.ts';

const showRun: NoticeButton = { title: 'Show Run', action: { kind: 'run' } };
const openInbox: NoticeButton = { title: 'Open Inbox', action: { kind: 'inbox' } };
const shaChars = 8;

/**
 * Remembers which run was active, so that its end is reported once, and only by a window that saw
 * it active.
 */
export class RunEnds {
  #active: string | null = null;

  /** The run that has just ended, or null. */
  ended({ run }: StatusSnapshot): RunView | null {
    const before = this.#active;
    this.#active = run?.active === true ? run.id : null;
    return run !== null && !run.active && run.id === before ? run : null;
  }
}

/** Returns null for a stopped run, because its end is not news to the person who stopped it. */
export function runEndNotice(report: Report, board: StatusSnapshot, run: RunView): Notice | null {
  if (report.state !== 'finished') return null;
  const { left } = report;
  const whole = outcomesOfEpic(report, board, run);
  const counts = whole === null ? report.counts : countOutcomes(whole.values());
  const failed =
    whole === null
      ? left.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
      : [...whole].filter(([, outcome]) => outcome === 'failed').map(([id]) => id);
  const others = listNeeds(board).flatMap((need) => otherNeed(need, run));
  const noAgent = whyNoAgent(
    report,
    left.flatMap(({ id, outcome }) => (outcome === 'failed' ? [] : [id])),
  );
  const parts = [
    ...outcomeParts(counts, placeOf(report, board, run)),
    ...others,
    ...(whole === null ? [] : [`this run: ${formatCount(report.counts.total, 'task')}`]),
    formatDuration(report.duration_ms),
    ...(report.cost.usd > 0 ? [formatCost(report.cost.usd)] : []),
  ];
  const hasWaiting = counts.waits > 0 || others.length > 0;
  const isBad = failed.length > 0 || hasWaiting || noAgent !== null;
  const retry: NoticeButton = {
    title: failed.length === 1 ? 'Retry Failed' : `Retry ${failed.length} Failed`,
    action: { kind: 'retryFailed', ids: failed },
  };
  return {
    key: `run ${run.id} ${run.ended_at ?? 0}`,
    level: isBad ? 'warning' : 'info',
    text: [
      `${titleOf(board, run)}: ${parts.join(' · ')}`,
      ...(noAgent === null ? [] : [`${noAgent} No attempt was used.`]),
    ].join('. '),
    buttons: [showRun, ...(hasWaiting ? [openInbox] : []), ...(failed.length > 0 ? [retry] : [])],
    isBlocking: isBad,
  };
}

/**
 * A run of an epic reports the current state of the epic, because retried tasks of earlier runs
 * also count. Returns null if the run is not for a whole epic, or if it contains all of the epic's
 * tasks.
 */
function outcomesOfEpic(
  { counts }: Report,
  board: StatusSnapshot,
  { epic_id: epic, tasks }: RunView,
): ReadonlyMap<string, TaskOutcome> | null {
  if (epic === null || tasks !== undefined) return null;
  const ids = new Set(board.tasks.flatMap((task) => (task.epic_id === epic ? [task.id] : [])));
  const found = [...outcomesOfTasks(board)].filter(([id]) => ids.has(id));
  return found.length > counts.total ? new Map(found) : null;
}

/** The run stopped using an agent that cannot start, and tasks are left for it. */
function whyNoAgent({ retries }: Report, left: readonly string[]): string | null {
  const found = retries.findLast(
    ({ task_id: id, cause }) => left.includes(id) && unusableKinds.includes(cause),
  );
  return found?.error ?? null;
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

/** For an epic, the target has the work in the epic's commit. */
function placeOf({ landed }: Report, board: StatusSnapshot, run: RunView): OutcomePlace {
  const epic = board.epics.find(({ id }) => id === run.epic_id);
  const sha = run.land === 'task' ? landed.at(-1)?.sha : epic?.landed_sha;
  return { branch: run.target_branch, sha: sha?.slice(0, shaChars) ?? null };
}

const epicWords: { readonly [K in EpicNeed]: string } = {
  epic_review: 'waits for your review',
  epic_conflict: 'could not land',
  epic_unlanded: 'has not landed',
};

/** Waiting items that are not tasks; the counts already include tasks. */
function otherNeed(need: Need, run: RunView): readonly string[] {
  switch (need.kind) {
    case 'epic_review':
    case 'epic_conflict':
    case 'epic_unlanded': {
      if (run.epic_id !== null && need.epic.id !== run.epic_id) return [];
      return [
        `${run.epic_id === null ? `“${need.epic.title}”` : 'the epic'} ${epicWords[need.kind]}`,
      ];
    }
    case 'red_base': {
      const isOfIt = need.tasks.some(({ epic_id: epic }) => epic === run.epic_id);
      return run.epic_id === null || isOfIt ? [`${need.on} fails its gate`] : [];
    }
    case 'pending':
      return [`${formatCount(need.count, 'commit waits', 'commits wait')} for your checkout`];
    case 'question':
    case 'review':
    case 'plan':
    case 'conflict':
    case 'failed':
    case 'blocked':
    case 'wrong': // a message of its own
    case 'no_room': // likewise
      return [];
  }
}
