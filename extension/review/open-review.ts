// Opens a change in VS Code's own multi-diff editor, each file at its base against what would land.

import { withProject, type CommandHandler } from '../commands/context.ts';
import { pickTask } from '../commands/pick.ts';
import { plainText } from '../notices/plain-text.ts';
import { filePairs, reviewTitle } from './changed-files.ts';
import { openConflict } from './open-conflict.ts';
import { openPairs } from './open-pairs.ts';
import type { ShownReviews } from './shown-reviews.ts';

const titleMax = 120;

export function showChange(shown: () => ShownReviews): CommandHandler {
  return withProject(async ({ messages }, project, target) => {
    const { board } = project;
    const epic = board?.epics.find(({ id }) => target.ids.includes(id));
    const task =
      epic === undefined
        ? await pickTask(project, target, 'Review Change', ({ commit_sha, landed_sha, status }) => {
            return commit_sha !== null || landed_sha !== null || status === 'needs_review';
          })
        : null;
    const meant = epic ?? task;
    if (meant === null) return;
    if (task?.status === 'conflict' && (await openConflict(project, task))) return;
    const change = await project.request('change', { id: meant.id });
    if (change.files.length === 0) {
      messages.tell('info', `“${change.title}” changes no file.`);
      return;
    }
    if (change.truncated) {
      messages.tell('warning', `Only the first ${change.files.length} files are shown.`);
    }
    const title = plainText(reviewTitle(change), titleMax);
    const review = { root: project.root, id: change.id, head: change.head };
    await openPairs(await shown().note(title, review), filePairs(project.root, change));
  });
}
