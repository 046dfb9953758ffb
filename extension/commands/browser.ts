// The board in a browser, served for as long as this window is open.

import * as vscode from 'vscode';
import type { ServedPage } from '../../server/protocol/web/wire.ts';
import { fleetVariables } from '../project/secrets.ts';
import { personEnvironment, type Project } from '../project/project.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';

export class BrowserPage implements vscode.Disposable {
  #page: ServedPage | null = null;

  dispose(): void {
    this.#page?.end();
  }

  /** Each call admits one browser, because the user may have several. */
  async open({ access, extension, messages }: CommandContext, project: Project): Promise<void> {
    if (this.#page === null || this.#page.isOver) {
      const environment = {
        ...personEnvironment(project.settings),
        ...(await fleetVariables(extension.secrets, project.root)),
      };
      this.#page = access.servePage(project.root, environment);
    }
    const link = new URL(await this.#page.link());
    // The port differs if this extension runs on another machine than the window.
    const outside = await vscode.env.asExternalUri(vscode.Uri.parse(link.origin));
    const opened = await vscode.env.openExternal(outside.with({ fragment: link.hash.slice(1) }));
    if (!opened) messages.tell('warning', 'No browser could be opened.');
  }
}

export function browserHandlers(page: () => BrowserPage): Handlers<'drover.openInBrowser'> {
  return {
    'drover.openInBrowser': withProject(async (context, project) => {
      await page().open(context, project);
    }),
  };
}
