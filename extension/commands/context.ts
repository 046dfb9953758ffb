// The context of every command.

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
  /** The arguments of the command: VS Code passes the item that it was invoked on. */
  readonly args: readonly unknown[];
  readonly showPanel: (name: PanelName, subject: Subject) => WebviewHost;
  /** The webview that has or last had the focus, for commands that the webview executes itself. */
  readonly focused: () => WebviewHost | null;
}

type FreeHandler = (
  context: CommandContext,
  target: Target,
  project: Project | null,
) => Promise<void>;
type ProjectHandler = (context: CommandContext, project: Project, target: Target) => Promise<void>;

/** A command works anywhere, or only on a connected project. */
export type CommandHandler = FreeHandler | { readonly onProject: ProjectHandler };

/** A subset of the commands; together, the subsets must contain all of them. */
export type Handlers<Id extends CommandId> = { readonly [I in Id]: CommandHandler };

/** A handler that needs a connected project: without one, it shows a message instead. */
export function withProject(onProject: ProjectHandler): CommandHandler {
  return { onProject };
}
