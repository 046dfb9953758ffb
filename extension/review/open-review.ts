// Opens a change in VS Code's own multi-diff editor, which compares each file's base with the
// version that would land.

import * as vscode from 'vscode';
import { listCandidates, candidateWords } from '../../server/protocol/candidates.ts';
import { withProject, type CommandHandler } from '../commands/context.ts';
import { pickTask } from '../commands/pick.ts';
import { plainText } from '../notices/plain-text.ts';
import { filePairs, reviewTitle } from './changed-files.ts';
import { openConflict } from './open-conflict.ts';
import { openPairs } from './open-pairs.ts';
import type { PullThreads } from './pull-threads.ts';
import type { ShownReviews } from './shown-reviews.ts';

const titleMax = 120;

export function showChange(
  parts: () => { readonly shown: ShownReviews; readonly threads: PullThreads },
): CommandHandler {
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
    const { shown, threads } = parts();
    await openPairs(await shown.note(title, review), filePairs(project.root, change));
    if (epic !== undefined) await threads.show(project, review);
  });
}

/** Compares the changes of two candidates file by file. */
export const compareCandidates: CommandHandler = withProject(
  async ({ messages }, project, target) => {
    const { board } = project;
    const named = board?.tasks.find(({ id }) => target.ids.includes(id));
    if (board === null || named === undefined) return;
    const all = listCandidates(board.tasks, named.candidate_of ?? named.id);
    const made = all.filter(({ commit_sha: commit }) => commit !== null);
    const pairs = made.flatMap((one, at) => made.slice(at + 1).map((other) => ({ one, other })));
    const items = pairs.map(({ one, other }) => {
      const words = [one, other].map((each) => candidateWords(each, null, each.status) ?? each.id);
      return { label: words.join(' ↔ '), one, other };
    });
    if (items.length === 0) {
      messages.tell('info', 'Fewer than two candidates have a change to compare.');
      return;
    }
    const title = `Compare Candidates of ${plainText(named.title, titleMax)}`;
    const chosen =
      items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title });
    if (chosen === undefined) return;
    const { one, other } = chosen;
    const change = await project.request('change', { id: other.id, against: one.id });
    if (change.files.length === 0) {
      messages.tell('info', 'Both candidates made the same change.');
      return;
    }
    const numbers = [one, other].map(({ candidate }) => `Candidate ${candidate?.number ?? ''}`);
    const words = plainText(`${named.title}: ${numbers.join(' ↔ ')}`, titleMax);
    await openPairs(words, filePairs(project.root, change));
  },
);
