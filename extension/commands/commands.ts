// Executes a VS Code command, whether it comes from the palette, a key, a menu, a link or a
// webview: finds its target, waits for the project if it needs one, and calls its handler.

import type { CommandId } from '../ids.ts';
import type { Project } from '../project/project.ts';
import type { CommandContext, CommandHandler } from './context.ts';
import { readTarget } from './target.ts';

/** The place from which a command is called, for example a webview. */
export interface CommandPlace {
  readonly project: Project | null;
  /** Ids of the selected rows. */
  readonly selection: readonly string[];
}

export class Commands {
  readonly #handlers: { readonly [Id in CommandId]: CommandHandler };
  readonly #contextOf: (args: readonly unknown[]) => CommandContext;

  constructor(
    handlers: { readonly [Id in CommandId]: CommandHandler },
    contextOf: (args: readonly unknown[]) => CommandContext,
  ) {
    this.#handlers = handlers;
    this.#contextOf = contextOf;
  }

  /** Rethrows the handler's errors. */
  readonly run = async (
    id: CommandId,
    args: readonly unknown[],
    { project, selection }: CommandPlace,
  ): Promise<void> => {
    const handler = this.#handlers[id];
    const context = this.#contextOf(args);
    const target = readTarget(args, selection);
    if (!('onProject' in handler)) return await handler(context, target, project);
    const connection = (await project?.settled()) ?? context.projects.connection;
    if (project !== null && connection.kind === 'connected') {
      return await handler.onProject(context, project, target);
    }
    const isUnavailable = connection.kind === 'unavailable';
    const message = isUnavailable ? connection.message : 'Drover is still connecting.';
    context.messages.tell('warning', message);
  };
}
