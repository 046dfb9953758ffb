// All commands in one map; the compiler requires every id of the manifest's list.

import * as vscode from 'vscode';
import { forwardedCommands, webviewIds, type CommandId, type ForwardedCommandId } from '../ids.ts';
import type { RemoteView } from '../remote/remote-view.ts';
import { shownReviewHandlers, type ReviewParts } from '../review/review-commands.ts';
import { takeOverHandlers, type TakeOvers } from '../take-over.ts';
import type { WebviewHost } from '../webviews/webview-host.ts';
import { agentHandlers } from './agents.ts';
import { browserHandlers, type BrowserPage } from './browser.ts';
import type { CommandContext, CommandHandler, Handlers } from './context.ts';
import { fromTemplateHandlers } from './from-template.ts';
import { gettingStartedHandlers } from './getting-started.ts';
import { makeTaskHandlers } from './make-task.ts';
import { panelHandlers } from './panels.ts';
import { remoteHandlers } from './remote.ts';
import { importIssuesHandlers } from './import-issues.ts';
import { planFromSpecHandlers } from './plan-from-spec.ts';
import { reviewHandlers } from './review.ts';
import { runHandlers } from './runs.ts';
import { taskHandlers } from './tasks.ts';

export interface CommandParts {
  readonly takeOvers: TakeOvers;
  readonly review: ReviewParts;
  readonly remote: RemoteView;
  readonly browser: BrowserPage;
}

export function allHandlers({
  takeOvers,
  review,
  remote,
  browser,
}: CommandParts): Handlers<CommandId> {
  return {
    ...gettingStartedHandlers,
    ...agentHandlers,
    ...panelHandlers,
    ...runHandlers,
    ...planFromSpecHandlers,
    ...importIssuesHandlers,
    ...fromTemplateHandlers,
    ...makeTaskHandlers,
    ...taskHandlers,
    ...takeOverHandlers(() => takeOvers),
    ...reviewHandlers(() => review.comments),
    ...shownReviewHandlers(() => review),
    ...remoteHandlers(() => remote),
    ...browserHandlers(() => browser),
    ...forwardedHandlers(),
  };
}

function forwardedHandlers(): Handlers<ForwardedCommandId> {
  const ids = Object.keys(forwardedCommands) as readonly ForwardedCommandId[];
  const handlers = ids.map((id) => [id, forward(id)] as const);
  return Object.fromEntries(handlers) as Handlers<ForwardedCommandId>;
}

/**
 * Searching and copying belong to whichever webview has the focus, everything else to the task
 * tree.
 */
function forward(id: ForwardedCommandId): CommandHandler {
  return async (context, { ids }) => {
    const action = forwardedCommands[id];
    const isOfFocused = action === 'find' || action === 'copy';
    const host = isOfFocused ? context.focused() : await shownTree(context);
    await host?.whenReady();
    host?.push({ type: 'do', action, ids });
  };
}

async function shownTree({ views }: CommandContext): Promise<WebviewHost | null> {
  await vscode.commands.executeCommand(`${webviewIds.tree}.focus`);
  return await views.shown('tree');
}
