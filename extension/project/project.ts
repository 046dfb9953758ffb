// One repository of this window with its link to the backend; other parts hear of its changes here.

import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { BoardChanges } from '../../server/protocol/panel-views.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type {
  BackendRequestName,
  BackendRequests,
  Connection,
} from '../../webview/messages/messages.ts';
import type { BackendAccess } from '../backend/access.ts';
import { BackendLink } from '../backend/link.ts';
import { fleetVariables } from './secrets.ts';
import { readSettings } from './settings.ts';
import { settingVariables, type ExtensionSettings } from './settings-table.ts';

export type ProjectChange =
  | { readonly kind: 'connection' }
  | { readonly kind: 'board'; readonly board: StatusSnapshot }
  | { readonly kind: 'changes'; readonly changes: BoardChanges; readonly board: StatusSnapshot }
  | { readonly kind: 'attached'; readonly board: StatusSnapshot; readonly isAgain: boolean };

export interface ProjectOptions {
  readonly root: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly access: BackendAccess;
  readonly log: vscode.LogOutputChannel;
  readonly secrets: vscode.SecretStorage;
}

/** As long as a backend may take to start. */
const settleWaitMs = 25_000;

export class Project implements vscode.Disposable {
  readonly root: string;
  readonly name: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly #link: BackendLink;
  readonly #changed = new vscode.EventEmitter<ProjectChange>();
  readonly onChange = this.#changed.event;

  constructor({ root, folder, access, log, secrets }: ProjectOptions) {
    this.root = root;
    // The name that the workspace gives its folder: two clones of one repository have the same
    // basename.
    this.name = folder.uri.fsPath === root ? folder.name : basename(root);
    this.folder = folder;
    this.#link = new BackendLink({
      root,
      access,
      log,
      environment: async () => ({
        ...backendEnvironment(this.settings),
        ...(await fleetVariables(secrets, root)),
      }),
      listener: {
        onConnection: () => this.#changed.fire({ kind: 'connection' }),
        onBoard: (board) => this.#changed.fire({ kind: 'board', board }),
        onChanges: (changes, board) => this.#changed.fire({ kind: 'changes', changes, board }),
        onAttached: (board, isAgain) => this.#changed.fire({ kind: 'attached', board, isAgain }),
      },
    });
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

  /**
   * Connects where that is still to be done; answers with how it ended (or where it stands after a
   * while).
   */
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
      const subscription = this.onChange(() => {
        if (this.connection.kind !== 'connecting') end();
      });
    });
  }

  pause(): void {
    this.#link.pause();
  }

  request<N extends BackendRequestName>(
    name: N,
    params: BackendRequests[N]['params'],
  ): Promise<BackendRequests[N]['result']> {
    return this.#link.request(name, params);
  }

  dispose(): void {
    this.#link.close();
    this.#changed.dispose();
  }
}

/** Variables of VS Code's own processes; they would mislead programs that are started below. */
const ownVariables = /^(VSCODE_|ELECTRON_|CHROME_DESKTOP$|APPLICATION_INSIGHTS_)/;

/** The person's environment without what belongs to VS Code, with what the settings say. */
export function personEnvironment(settings: ExtensionSettings): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !ownVariables.test(name)) environment[name] = value;
  }
  return { ...environment, ...settingVariables(settings) };
}

/** The backend is run by VS Code's own program, which is plain Node only when it is told to be. */
function backendEnvironment(settings: ExtensionSettings): Record<string, string> {
  return { ...personEnvironment(settings), ELECTRON_RUN_AS_NODE: '1' };
}
