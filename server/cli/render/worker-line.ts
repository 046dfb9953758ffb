// Formats the output of a worker, one line per report.

import { formatCount, stepText } from '../../core/format.ts';
import type { WorkerNote } from '../../protocol/worker-notes.ts';
import { clockText, durationText } from './figures.ts';

export function workerLine(note: WorkerNote): string {
  return `${clockText(note.at_ms)}  ${sentence(note)}`;
}

function sentence(note: WorkerNote): string {
  switch (note.type) {
    case 'ready': {
      const { machine, id, labels, agents, database, remote } = note;
      const offers = labels.length === 0 ? 'no labels' : `labels ${labels.join(', ')}`;
      const most = agents === 0 ? 'no agents' : `at most ${formatCount(agents, 'agent')}`;
      return `ready: machine ${machine} (${id}), ${offers}, ${most}, database ${database}, git remote ${remote}`;
    }
    case 'begun': {
      const { task_id: id, attempt, title } = note;
      return `${id} starts: attempt ${attempt} with ${stepText(note)}, "${title}"`;
    }
    case 'ended': {
      const { task_id: id, outcome, worked_ms: ms, error } = note;
      const end = outcome === 'landing' ? 'its work will land' : outcome.replaceAll('_', ' ');
      const why = error === null || error === '' ? '' : ` (${error})`;
      return `${id} ends after ${durationText(ms / 1000)}: ${end}${why}`;
    }
    case 'draining':
      return note.tasks.length === 0
        ? 'draining: no tasks are running here'
        : `draining: starts nothing new and waits for ${note.tasks.join(', ')}; a second signal releases them`;
    case 'trouble':
      return `trouble: ${note.where}: ${note.message}`;
    case 'warning':
      return `warning: ${note.message}`;
    case 'giving_back':
      return note.tasks.length === 0
        ? 'stops: no tasks are running here'
        : `releases ${note.tasks.join(', ')} to other machines: no attempt is used`;
    case 'over':
      return note.given_back.length === 0
        ? 'over'
        : `over: ${formatCount(note.given_back.length, 'task was', 'tasks were')} released`;
  }
}
