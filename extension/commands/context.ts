// What every command is given.

import type * as vscode from 'vscode';
import type { BackendAccess } from '../backend/access.ts';
import type { CommandId, PanelName } from '../ids.ts';
import type { Messages } from '../notices/messages.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import type { SideViews } from '../webviews/side-views.ts';
import type { Subject } from '../webviews/panel-subject.ts';
import type { WebviewHost } from '../webviews/webview-host.ts';
import type { Target } from './target.ts';

export interface CommandContext {
  readonly extension: vscode.ExtensionContext;
  readonly access: BackendAccess;
  readonly projects: Projects;
  readonly messages: Messages;
  readonly log: vscode.LogOutputChannel;
  readonly views: SideViews;
  /** As the command was called: VS Code hands over what it was called on. */
  readonly args: readonly unknown[];
  readonly showPanel: (name: PanelName, subject: Subject) => void;
  /** The webview that has or last had the focus, for commands that it carries out itself. */
  readonly focused: () => WebviewHost | null;
}

export type CommandHandler = (
  context: CommandContext,
  target: Target,
  project: Project | null,
) => Promise<void>;

/** A part of the commands: together they must be all of them. */
export type Handlers<Id extends CommandId> = { readonly [I in Id]: CommandHandler };

/** A handler that has nothing to do without a connected project; says so instead. */
export function withProject(
  handler: (context: CommandContext, project: Project, target: Target) => Promise<void>,
): CommandHandler {
  return async (context, target, project) => {
    const connection = (await project?.settled()) ?? context.projects.connection;
    if (project !== null && connection.kind === 'connected') {
      await handler(context, project, target);
      return;
    }
    const isUnavailable = connection.kind === 'unavailable';
    const message = isUnavailable ? connection.message : 'Drover is still connecting.';
    context.messages.tell('warning', message);
  };
}
