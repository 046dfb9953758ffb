// `status` for an assistant: the facts that decide the next step, without settings and empty
// fields.

import type { StatusSnapshot, TaskView } from '../../protocol/api.ts';
import { formatSummaryLine } from '../render/summary.ts';

/** Maximum number of listed tasks. Tasks that are over are omitted first. */
const tasksMax = 200;

export function summarizeStatus(snapshot: StatusSnapshot): unknown {
  const { run, target, epics, tasks, stuck, questions, holds } = snapshot;
  const open = tasks.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
  const shown = tasks.length <= tasksMax ? tasks : open.slice(0, tasksMax);
  return {
    summary: formatSummaryLine(snapshot),
    counts: snapshot.counts,
    progress: snapshot.progress,
    run: run === null ? null : { id: run.id, active: run.active, target: run.target_branch },
    commits_waiting_for_checkout: target?.pending ?? 0,
    epics: epics.map(({ id, title, status, progress, landed_sha, landing_note }) => ({
      id,
      title,
      status,
      progress,
      landed: landed_sha !== null,
      ...(landing_note === null ? {} : { note: landing_note }),
    })),
    tasks: shown.map(taskOf),
    ...(shown.length < tasks.length && { tasks_left_out: tasks.length - shown.length }),
    questions: questions
      .filter(({ state }) => state === 'open')
      .map(({ id, task_id, kind, text, choices }) => ({ id, task_id, kind, text, choices })),
    stuck,
    holds: holds.map(({ scope, reason }) => ({ scope, reason })),
  };
}

function taskOf(task: TaskView): unknown {
  const { id, title, status, epic_id, waits_for, phase, last_error, attempts } = task;
  return {
    id,
    title,
    status,
    ...(epic_id !== null && { epic: epic_id }),
    ...(waits_for.length > 0 && { waits_for }),
    ...(phase !== null && { phase }),
    ...(attempts > 0 && { attempts }),
    ...(last_error !== null && { last_error }),
  };
}

/** Whether the run has ended or waits for the user's answer. */
export function runIsOver({ run, questions }: StatusSnapshot): boolean {
  return run?.active !== true || questions.some(({ state }) => state === 'open');
}
