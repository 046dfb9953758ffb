// One repository of this window with its link to the backend.

import { basename } from 'node:path';
import type * as vscode from 'vscode';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { Connection } from '../../webview/messages/messages.ts';
import type { BackendAccess } from '../backend/access.ts';
import type { BackendRequest } from '../backend/language-client.ts';
import { BackendLink, type LinkChange } from '../backend/link.ts';
import { remoteVariables } from './remote-secrets.ts';
import { fleetVariables } from './secrets.ts';
import { readSettings } from './settings.ts';
import { settingVariables, type ExtensionSettings } from './settings-table.ts';

/** The events of this window, under the names that the whole extension uses. */
export interface ProjectChange {
  readonly project: Project | null;
  /** `list`: projects were added or removed, or the current one changed. */
  readonly change: LinkChange | { readonly kind: 'list' };
}

export interface ProjectOptions {
  readonly root: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly access: BackendAccess;
  readonly log: vscode.LogOutputChannel;
  readonly secrets: vscode.SecretStorage;
  /** Events for the whole window: each change names its project. */
  readonly changed: vscode.EventEmitter<ProjectChange>;
}

/** The time that a backend has to start. */
const settleWaitMs = 25_000;

export class Project implements vscode.Disposable {
  readonly root: string;
  readonly name: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly #link: BackendLink;
  readonly #onChange: vscode.Event<ProjectChange>;

  constructor({ root, folder, access, log, secrets, changed }: ProjectOptions) {
    this.root = root;
    this.#onChange = changed.event;
    // The name that the workspace gives its folder, because two clones of one repository have the
    // same basename.
    this.name = folder.uri.fsPath === root ? folder.name : basename(root);
    this.folder = folder;
    this.#link = new BackendLink({
      root,
      access,
      log,
      environment: async () => ({
        ...backendEnvironment(this.settings),
        ...(await remoteVariables(secrets, root)),
        ...(await fleetVariables(secrets, root)),
      }),
      onChange: (change) => changed.fire({ project: this, change }),
    });
  }

  /** The link's own. */
  get request(): BackendRequest {
    return this.#link.request;
  }

  get connection(): Connection {
    return this.#link.connection;
  }

  get board(): StatusSnapshot | null {
    return this.#link.board;
  }

  get settings(): ExtensionSettings {
    return readSettings(this.folder.uri);
  }

  connect(): void {
    this.#link.connect();
  }

  /** Connects if necessary; returns the result, or the state after a while. */
  settled(): Promise<Connection> {
    this.connect();
    if (this.connection.kind !== 'connecting') return Promise.resolve(this.connection);
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        subscription.dispose();
        resolve(this.connection);
      };
      const timer = setTimeout(end, settleWaitMs);
      const subscription = this.#onChange(() => {
        if (this.connection.kind !== 'connecting') end();
      });
    });
  }

  pause(): void {
    this.#link.pause();
  }

  dispose(): void {
    this.#link.close();
  }
}

/** Variables of VS Code's own processes, which would mislead programs that Drover starts. */
const ownVariables = /^(VSCODE_|ELECTRON_|CHROME_DESKTOP$|APPLICATION_INSIGHTS_)/;

/**
 * The person's environment without VS Code's own variables, plus the variables from the settings.
 */
export function personEnvironment(settings: ExtensionSettings): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !ownVariables.test(name)) environment[name] = value;
  }
  return { ...environment, ...settingVariables(settings) };
}

/** VS Code's own program runs the backend; this variable makes it plain Node. */
function backendEnvironment(settings: ExtensionSettings): Record<string, string> {
  return { ...personEnvironment(settings), ELECTRON_RUN_AS_NODE: '1' };
}
