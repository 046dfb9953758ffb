// The decisions that only a run carries out, as one line with its command. Pure.

import { epicLinePrefix } from '../../core/plan/outcome.ts';
import { canLand } from '../../protocol/needs.ts';
import type { EpicView, StatusSnapshot, TaskView } from '../../protocol/views.ts';

type Board = Pick<StatusSnapshot, 'epics' | 'run' | 'tasks'>;

/**
 * `id`: the task or epic that was decided on. Returns null if an active run carries it out, or if
 * nothing waits for a run.
 */
export function nextRunLine(board: Board, id: string): string | null {
  const { epics, run, tasks } = board;
  if (run?.active === true) return null;
  const decided = tasks.find((task) => task.id === id);
  const task = tasks.find((each) => each.id === decided?.candidate_of) ?? decided;
  const epic = epics.find((each) => each.id === (task?.epic_id ?? id));
  if (epic !== undefined) {
    const landed = landingLine(epic, board);
    if (landed !== null) return landed;
  }
  if (task === undefined) return null;
  if (task.status === 'ready') return `No run is active: "drover run" starts ${task.id}.`;
  const freed = tasks.filter(
    ({ status, blocked_by: by }) => status === 'ready' && by.includes(task.id),
  );
  if (freed.length === 0) return null;
  return `No run is active: "drover run" starts ${freed.map((each) => each.id).join(', ')}.`;
}

function landingLine(epic: EpicView, { run, tasks }: Board): string | null {
  const isReview = run?.epic_id === epic.id && run.land === 'review';
  const command = `"drover run --epic ${epic.id}${isReview ? ' --land review' : ''}"`;
  const { landing_state: state } = epic;
  if (state === 'pull_request' || state === 'returned')
    return `Epic ${epic.id}: ${epic.landing_note ?? state}.`;
  if (state === 'needs_review' || state === 'conflict' || state === 'gate_failed') return null;
  if (canLand(epic)) return `No run is active: ${command} lands the epic ${epic.id}.`;
  if (epic.branch?.startsWith(epicLinePrefix) !== true) return null;
  const open = tasks.filter((task) => task.epic_id === epic.id && isOpen(task));
  const isLanding = open.length > 0 && open.every(({ phase }) => phase === 'land');
  return isLanding
    ? `No run is active: once ${open.map(({ id }) => id).join(', ')} has landed, ${command} lands the epic.`
    : null;
}

function isOpen({ status, candidate_of: of }: TaskView): boolean {
  return of === null && status !== 'completed' && status !== 'cancelled';
}
