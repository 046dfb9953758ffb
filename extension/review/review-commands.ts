// A person's actions on a change in review: comment, send back, approve.

import * as vscode from 'vscode';
import {
  withProject,
  type CommandContext,
  type CommandHandler,
  type Handlers,
} from '../commands/context.ts';
import { pickTask } from '../commands/pick.ts';
import { changedBy } from '../../server/protocol/decided.ts';
import { decide, seeToRun } from '../commands/runs.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import type { Messages } from '../notices/messages.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { Merges } from './merges.ts';
import { openConflict } from './open-conflict.ts';
import { sentMax } from './comment-text.ts';
import { compareCandidates, showChange } from './open-review.ts';
import { PullThreads } from './pull-threads.ts';
import { ReviewComments } from './review-comments.ts';
import { ReviewProblems } from './review-problems.ts';
import type { ShownReview } from './review-titles.ts';
import { ShownReviews } from './shown-reviews.ts';

export interface ReviewParts {
  readonly comments: ReviewComments;
  readonly threads: PullThreads;
  readonly shown: ShownReviews;
  readonly merges: Merges;
  readonly problems: ReviewProblems;
}

export function reviewParts(
  extension: Pick<vscode.ExtensionContext, 'secrets' | 'storageUri' | 'workspaceState'>,
  projects: Projects,
  messages: Messages,
): ReviewParts {
  const memory = extension.workspaceState;
  return {
    comments: new ReviewComments(memory),
    threads: new PullThreads(projects),
    shown: new ShownReviews(memory, projects),
    merges: new Merges(extension, projects, messages),
    problems: new ReviewProblems(projects),
  };
}

type ReviewCommand =
  | 'drover.review'
  | 'drover.compareCandidates'
  | 'drover.mergeConflict'
  | 'drover.landMerge'
  | 'drover.approveShown'
  | 'drover.sendBackShown'
  | 'drover.addComment'
  | 'drover.removeComment'
  | 'drover.replyOnPull'
  | 'drover.openThread';

export function shownReviewHandlers(parts: () => ReviewParts): Handlers<ReviewCommand> {
  return {
    'drover.review': showChange(parts),
    'drover.compareCandidates': compareCandidates,
    'drover.mergeConflict': withProject(async ({ messages }, project, target) => {
      const fits = ({ status }: TaskView): boolean => status === 'conflict';
      const task = await pickTask(project, target, 'Merge Conflict', fits);
      if (task === null || (await parts().merges.open(project, task))) return;
      messages.tell('info', 'A file that is not text is in conflict. Both sides are shown.');
      await openConflict(project, task);
    }),
    'drover.landMerge': async ({ args }) => {
      await parts().merges.accept(args);
    },
    'drover.approveShown': onShown(parts, async (context, project, { id, head }) => {
      const { length } = parts().comments.of(id, project.root);
      const detail = `${length} comments were not sent back. They stay as drafts.`;
      const { messages } = context;
      const isSure = length === 0 || (await messages.confirm('Approve anyway?', detail, 'Approve'));
      if (!isSure) return;
      await decide(context, project, id, () => project.request('approve', { id, seen: head }));
      messages.tell('info', 'Approved: it lands now.');
    }),
    'drover.sendBackShown': onShown(parts, async (context, project, { id }) => {
      await sendBack(context, project, parts().comments, id);
    }),
    'drover.addComment': async ({ args }) => {
      const [reply] = args;
      if (isReply(reply)) await parts().comments.add(reply);
    },
    'drover.removeComment': async ({ args }) => {
      const [thread] = args;
      if (isThread(thread)) await parts().comments.remove(thread);
    },
    'drover.replyOnPull': async ({ args }) => {
      const [reply] = args;
      if (isReply(reply)) await parts().threads.reply(reply);
    },
    'drover.openThread': async ({ args }) => {
      const [thread] = args;
      if (isThread(thread)) await parts().threads.open(thread);
    },
  };
}

/**
 * Sends the comments in the diff, with a message about the whole change; at least one of the two is
 * required.
 */
export async function sendBack(
  context: CommandContext,
  project: Project,
  comments: ReviewComments,
  id: string,
): Promise<void> {
  const { messages } = context;
  const drafts = comments.of(id, project.root);
  const count = drafts.length === 1 ? 'one comment' : `${drafts.length} comments`;
  const general = await vscode.window.showInputBox({
    title: 'Send Back to the Agent',
    prompt:
      drafts.length === 0
        ? 'What should be different.'
        : `Sent with ${count} on the change. Leave this empty to send only those.`,
    validateInput: (input) =>
      comments.compose(id, project.root, input).length > sentMax ? 'This is too long.' : null,
  });
  if (general === undefined) return;
  const about = changedBy(project.board, id);
  const text = comments.compose(id, project.root, general);
  if (text === '') return;
  if (text.length > sentMax) throw new Error('These are too many comments for one message.');
  await project.request('task.send_back', { id, text });
  await comments.clear(drafts);
  messages.tell('info', 'Sent back to the agent.');
  await seeToRun(context, project, about);
}

function onShown(
  parts: () => ReviewParts,
  handler: (context: CommandContext, project: Project, review: ShownReview) => Promise<void>,
): CommandHandler {
  return async (context) => {
    const { messages, projects, args } = context;
    const shown = parts().shown.find(args);
    const project = shown === null ? null : projects.byRoot(shown.root);
    if (shown === null || project === null) {
      messages.tell('warning', 'Open a review first: “Drover: Review Change”.');
      return;
    }
    const connection = await project.settled();
    if (connection.kind === 'connected') return handler(context, project, shown);
    messages.tell(
      'warning',
      connection.kind === 'unavailable' ? connection.message : 'Drover is still connecting.',
    );
  };
}

function isReply(value: unknown): value is vscode.CommentReply {
  if (typeof value !== 'object' || value === null) return false;
  return 'thread' in value && isThread(value.thread) && 'text' in value;
}

function isThread(value: unknown): value is vscode.CommentThread {
  return typeof value === 'object' && value !== null && 'uri' in value && 'comments' in value;
}
