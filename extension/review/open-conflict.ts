// A merge conflict: shows the files that both sides have changed, with the task's version beside
// the landed one.

import type { TaskView } from '../../server/protocol/views.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import { conflictPairs } from './changed-files.ts';
import { openPairs } from './open-pairs.ts';

const titleMax = 120;

/** Returns false if git no longer has both sides, so that only the change itself can be shown. */
export async function openConflict(project: Project, task: TaskView): Promise<boolean> {
  const { onto: landed } = await project.request('conflict', { id: task.id });
  const pairs = conflictPairs(project.root, task, landed);
  if (pairs.length === 0) return false;
  await openPairs(plainText(`${task.title}: landed ↔ this task`, titleMax), pairs);
  return true;
}
