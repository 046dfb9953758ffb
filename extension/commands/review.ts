// Review commands: approve, send back, undo a landing. The review part itself decides how to show a
// change.

import { setTimeout as delay } from 'node:timers/promises';
import type { UndoView } from '../../server/protocol/run-views.ts';
import { undoEnd, type UndoEnd } from '../../server/protocol/undo-end.ts';
import type { EpicView, TaskView } from '../../server/protocol/views.ts';
import { asksInPlace } from './asks-in-place.ts';
import { withProject, type Handlers } from './context.ts';
import { pickTask } from './pick.ts';
import { decide } from './runs.ts';
import type { Messages } from '../notices/messages.ts';
import type { Project } from '../project/project.ts';
import { sendBack } from '../review/review-commands.ts';
import type { ReviewComments } from '../review/review-comments.ts';
import { landedEpic, type Target } from './target.ts';

const wantsReview = ({ status }: TaskView): boolean => status === 'needs_review';

export function reviewHandlers(
  comments: () => ReviewComments,
): Handlers<'drover.approve' | 'drover.landCandidate' | 'drover.sendBack' | 'drover.undoLanding'> {
  return {
    'drover.approve': withProject(async (context, project, target) => {
      const meant = await pickReviewed(project, target, 'Approve');
      if (meant === null) return;
      const { id } = meant;
      await decide(context, project, id, () => project.request('approve', { id }));
      const isPlan = 'review_kind' in meant && meant.review_kind === 'plan';
      const text = isPlan
        ? `The plan of “${meant.title}” is approved: the next free worker of a run builds it.`
        : `“${meant.title}” is approved and lands now.`;
      context.messages.tell('info', text);
    }),
    'drover.landCandidate': withProject(async (context, project, { ids: [id = ''] }) => {
      const chosen = project.board?.tasks.find((task) => task.id === id);
      if (chosen === undefined || chosen.candidate === null) return;
      await decide(context, project, id, () => project.request('approve', { id }));
      const { candidate, title } = chosen;
      context.messages.tell('info', `Candidate ${candidate.number} of “${title}” lands now.`);
    }),
    'drover.sendBack': withProject(async (context, project, target) => {
      const meant = await pickReviewed(project, target, 'Send Back');
      if (meant !== null) await sendBack(context, project, comments(), meant.id);
    }),
    'drover.undoLanding': asksInPlace(async ({ messages }, project, target) => {
      const landed = await pickLanded(project, target);
      if (landed === null) return;
      const { dependents, pull_requests: pulls } = await project.request('undo', {
        id: landed.id,
        dry_run: true,
      });
      const titles = dependents.map(
        (id) => `“${project.board?.tasks.find((one) => one.id === id)?.title ?? id}”`,
      );
      const stays =
        titles.length === 0 ? '' : ` These depend on it and stay: ${titles.join(', ')}.`;
      const way =
        pulls.length === 0 ? 'and lands like any other.' : 'and to the forge as a pull request.';
      const detail = `A commit that reverts it goes through the gate ${way}${stays}`;
      if (!(await messages.confirm(`Undo the landing of “${landed.title}”?`, detail, 'Undo')))
        return;
      const started = await project.request('undo', { id: landed.id });
      // Not awaited: the keyboard focus must not move to the tree when the gate ends minutes later.
      void tellUndone(messages, project, landed.title, started);
    }),
  };
}

/** The selected landed epic, otherwise a landed task. */
async function pickLanded(project: Project, target: Target): Promise<EpicView | TaskView | null> {
  const epic = landedEpic(project.board?.epics ?? [], target.ids);
  if (epic !== null) return epic;
  const fits = ({ landed_sha }: TaskView): boolean => landed_sha !== null;
  return await pickTask(project, target, 'Undo a Landing', fits);
}

async function tellUndone(
  messages: Messages,
  project: Project,
  title: string,
  started: UndoView,
): Promise<void> {
  const { line, state, tasks } = started;
  if (state === 'running') messages.tell('info', `The gate runs on ${line} without “${title}”.`);
  try {
    const end = await untilUndone(project, started);
    if (end.kind === 'failed') throw new Error(end.reason ?? `“${title}” stays landed.`);
    if (end.kind === 'sent') {
      const text = `The revert of “${title}” passed its gate. Its pull request is being opened.`;
      messages.tell('info', text);
      return;
    }
    const sha = end.sha === null ? '' : ` (${end.sha.slice(0, 7)})`;
    const paused = tasks.length === 1 ? 'Its task is paused' : 'Its tasks are paused';
    messages.tell(
      'info',
      `“${title}” is undone on ${line}${sha}. ${paused}; Resume lets an agent redo the work.`,
    );
  } catch (error) {
    messages.fail(`“${title}” was not undone`, error);
  }
}

const lookEveryMs = 500;

/** This takes as long as the gate; without a backend, the request fails and ends the wait. */
async function untilUndone(
  project: Project,
  { workflow, after: start }: UndoView,
): Promise<UndoEnd> {
  for (let after = start; ;) {
    const { events } = await project.request('events.read', { after });
    const end = undoEnd(events, workflow);
    if (end !== null) return end;
    after = events.at(-1)?.seq ?? after;
    await delay(lookEveryMs);
  }
}

/** A task or an epic that waits for a review. */
async function pickReviewed(
  project: Project,
  target: Target,
  title: string,
): Promise<EpicView | TaskView | null> {
  const epic = project.board?.epics.find(({ id }) => target.ids.includes(id));
  return epic ?? (await pickTask(project, target, title, wantsReview));
}
