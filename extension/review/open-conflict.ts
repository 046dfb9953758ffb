// A merge conflict: the files that both sides have changed, what the task made of them beside what
// has landed.

import type { TaskView } from '../../server/protocol/views.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import { conflictPairs } from './changed-files.ts';
import { openPairs } from './open-pairs.ts';

const titleMax = 120;

/**
 * False: git does not tell both sides (any more), so there is only the change itself to be shown.
 */
export async function openConflict(project: Project, task: TaskView): Promise<boolean> {
  const landed = await otherSide(project, task);
  const pairs = conflictPairs(project.root, task, landed);
  if (pairs.length === 0) return false;
  await openPairs(plainText(`${task.title}: landed ↔ this task`, titleMax), pairs);
  return true;
}

/**
 * The tip of the line that the task lands on: its epic's while that has not landed as a whole, else
 * the target's.
 */
async function otherSide(project: Project, task: TaskView): Promise<string | null> {
  const { board } = project;
  const epic = board?.epics.find(({ id }) => id === task.epic_id);
  if (epic !== undefined && epic.branch !== null && epic.landing_state !== 'landed') {
    try {
      const { head } = await project.request('change', { id: epic.id });
      return head;
    } catch {
      // Nothing has landed on it yet: the task met what is on the target.
    }
  }
  return board?.target?.sha ?? null;
}
