// The hover text of a row: the whole title, its blockers by title, why it failed. Pure.

import { formatCost, formatCount } from '../../server/core/format.ts';
import { countsByEpic, noTasks } from '../../server/core/plan/outcome.ts';
import { outcomeText } from '../../server/core/plan/outcome-words.ts';
import { askingTasks } from '../../server/protocol/needs.ts';
import type { EpicView, StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import { statusWords } from '../shared/status-words.ts';
import type { Row } from './rows.ts';

const namedMax = 8;
const lineMax = 300;

export function hoverText(row: Row, board: StatusSnapshot): string {
  switch (row.kind) {
    case 'epic':
      return epicText(row.epic, board);
    case 'task':
      return taskText(row.task, board);
    case 'loose':
    case 'draft':
      return '';
  }
}

function taskText(task: TaskView, board: StatusSnapshot): string {
  const facts = [statusWords(task, askingTasks(board).has(task.id))];
  if (task.agent !== null) facts.push(task.agent);
  if (task.attempts > 0) facts.push(formatCount(task.attempts, 'attempt'));
  if (task.cost > 0) facts.push(formatCost(task.cost));
  return linesOf([
    task.title,
    sentence(facts.join(' · ')),
    named('Waits for', task.waits_for, board),
    named(
      'Blocks',
      board.tasks.filter((each) => each.blocked_by.includes(task.id)).map(({ id }) => id),
      board,
    ),
    task.status === 'completed' ? '' : (task.last_error ?? ''),
    task.blocked_reason ?? '',
  ]);
}

function epicText(epic: EpicView, board: StatusSnapshot): string {
  const counts = countsByEpic(board).get(epic.id) ?? noTasks;
  const cost = board.tasks.reduce((sum, { epic_id, cost: each }) => {
    return epic_id === epic.id ? sum + each : sum;
  }, 0);
  const facts = [counts.total === 0 ? 'Empty' : sentence(outcomeText(counts))];
  if (cost > 0) facts.push(formatCost(cost));
  if (epic.status === 'closed') facts.push('archived');
  return linesOf([epic.title, facts.join(' · '), epic.landing_note ?? '']);
}

function named(what: string, ids: readonly string[], board: StatusSnapshot): string {
  if (ids.length === 0) return '';
  const wanted = new Set(ids.slice(0, namedMax));
  const titles = board.tasks.filter(({ id }) => wanted.has(id)).map(({ title }) => title);
  const more = ids.length > namedMax ? ` and ${ids.length - namedMax} more` : '';
  return `${what}: ${titles.join(', ')}${more}`;
}

function sentence(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function linesOf(lines: readonly string[]): string {
  return lines
    .filter((line) => line !== '')
    .map((line) => visibleLine(line.slice(0, lineMax)))
    .join('\n');
}
