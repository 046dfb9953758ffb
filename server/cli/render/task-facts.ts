// Short facts about a task that the table and the tree share.

import { stepText } from '../../core/format.ts';
import { runningGateText } from '../../core/line/gate-words.ts';
import type { TaskView } from '../../protocol/api.ts';
import type { GateView } from '../../protocol/task-fields.ts';
import { plainLine } from '../plain-text.ts';
import { clockText, costText, durationText } from './figures.ts';

export function isRunning(task: TaskView): boolean {
  return task.status === 'in_progress' || task.status === 'claimed';
}

/** Its current activity, or why it waits: `agent`, `waits for task-a`, `until 14:05:00`. */
export function situation(task: TaskView): string {
  switch (task.status) {
    case 'in_progress':
    case 'claimed':
      return task.running_gate === undefined ? (task.phase ?? '') : gateText(task.running_gate);
    case 'blocked': {
      if (task.waits_for.length > 0) return `waits for ${task.waits_for.join(', ')}`;
      return plainLine(task.blocked_reason ?? '');
    }
    case 'waiting':
      return task.waiting_until === null ? '' : `until ${clockText(task.waiting_until * 1000)}`;
    case 'ready':
      return task.next_attempt_at === null
        ? ''
        : `next try ${clockText(task.next_attempt_at * 1000)}`;
    case 'needs_review':
      return plainLine(task.review_kind ?? '').replaceAll('_', ' ');
    case 'conflict':
      return task.conflict_files.map(plainLine).join(', ');
    case 'failed':
      return plainLine(task.last_error ?? '');
    case 'paused':
    case 'completed':
    case 'cancelled':
      return '';
  }
}

/** `gate runs early on main + task-a + task-b (2nd in the queue)`. */
function gateText(gate: GateView): string {
  return plainLine(runningGateText(gate)).replace(/^G/u, 'g');
}

export function tryText(task: TaskView): string {
  return task.attempts === 0 ? '' : `${task.attempts}/${task.max_attempts}`;
}

export function elapsedText(task: TaskView, nowMs: number): string {
  if (task.started_at === null || !isRunning(task)) return '';
  return durationText(nowMs / 1000 - task.started_at);
}

function agentText({ agent, model }: TaskView): string {
  return agent === null ? '' : stepText({ agent, model });
}

/** `claude on atlas 2/3 4m 05s $0.12`: agent, machine, attempt, time and cost, as far as known. */
export function formatFigures(task: TaskView, nowMs: number): string {
  const agent = isRunning(task) ? plainLine(agentText(task)) : '';
  const place =
    isRunning(task) && typeof task.machine === 'string' ? `on ${plainLine(task.machine)}` : '';
  const facts = [agent, place, tryText(task), elapsedText(task, nowMs), costText(task.cost)];
  return facts.filter((fact) => fact !== '').join(' ');
}
