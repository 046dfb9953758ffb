// The repositories of this window: one project for each, found through the workspace's folders, and
// the current one.

import * as vscode from 'vscode';
import type { Connection } from '../../webview/messages/messages.ts';
import type { BackendAccess } from '../backend/access.ts';
import type { RootState } from '../../server/protocol/editor-access.ts';
import { Project, type ProjectChange } from './project.ts';
import { unavailable } from './unavailable.ts';

const currentKey = 'currentProject';

export class Projects implements vscode.Disposable {
  readonly #access: BackendAccess;
  readonly #log: vscode.LogOutputChannel;
  readonly #memory: vscode.Memento;
  readonly #secrets: vscode.SecretStorage;
  readonly #changed = new vscode.EventEmitter<ProjectChange>();
  readonly #subscriptions: vscode.Disposable[] = [];
  readonly #all = new Map<string, Project>();
  #current: Project | null = null;
  #withoutProject: Connection = { kind: 'connecting' };
  #looking: Promise<void> = Promise.resolve();
  readonly onChange = this.#changed.event;

  constructor(
    access: BackendAccess,
    log: vscode.LogOutputChannel,
    {
      workspaceState: memory,
      secrets,
    }: Pick<vscode.ExtensionContext, 'workspaceState' | 'secrets'>,
  ) {
    this.#access = access;
    this.#secrets = secrets;
    this.#log = log;
    this.#memory = memory;
    this.#subscriptions.push(
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.look()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.look()),
    );
  }

  get all(): readonly Project[] {
    return [...this.#all.values()];
  }

  get current(): Project | null {
    return this.#current;
  }

  /** The state of the current project, or the reason that none exists. */
  get connection(): Connection {
    return this.#current?.connection ?? this.#withoutProject;
  }

  byRoot(root: string): Project | null {
    return this.#all.get(root) ?? null;
  }

  /** The project that a webview shows: the project of its own folder, otherwise the current one. */
  shownIn(root: string | null): Project | null {
    return root === null ? this.#current : this.byRoot(root);
  }

  select(project: Project): void {
    this.#current = project;
    void this.#memory.update(currentKey, project.root);
    project.connect();
    this.#tellList();
  }

  /** Checks the folders (again); calls run one after the other. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(
      () => this.#look(),
      () => this.#look(),
    );
    return this.#looking;
  }

  async #look(): Promise<void> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(
      ({ uri }) => uri.scheme === 'file',
    );
    const found = new Map<string, vscode.WorkspaceFolder>();
    this.#withoutProject = await this.#find(folders, found);
    for (const [root, project] of this.#all) {
      if (found.has(root)) continue;
      this.#all.delete(root);
      project.dispose();
    }
    for (const [root, folder] of found) {
      if (!this.#all.has(root)) this.#add(root, folder);
    }
    const wanted = this.#memory.get<string>(currentKey);
    this.#current = this.#all.get(wanted ?? '') ?? this.all[0] ?? null;
    this.#tellList();
  }

  /** Fills `found`; returns the reason if none was found. */
  async #find(
    folders: readonly vscode.WorkspaceFolder[],
    found: Map<string, vscode.WorkspaceFolder>,
  ): Promise<Connection> {
    if (folders.length === 0) return unavailable('no_folder');
    if (!vscode.workspace.isTrusted) return unavailable('untrusted');
    let firstMiss: Exclude<RootState, { kind: 'project' }> | null = null;
    for (const folder of folders) {
      const state = await this.#access.rootOf(folder.uri.fsPath);
      if (state.kind === 'project') {
        if (!found.has(state.root)) found.set(state.root, folder);
      } else if (firstMiss?.kind !== 'not_initialised') firstMiss = state;
    }
    if (firstMiss?.kind === 'not_initialised') return unavailable('not_initialised');
    return found.size > 0 ? { kind: 'connecting' } : await this.#whyNoRepository();
  }

  /** Checked only if nothing was found, because each git query costs a process. */
  async #whyNoRepository(): Promise<Connection> {
    const git = await this.#access.git();
    switch (git.kind) {
      case 'missing':
        return unavailable('no_git');
      case 'too_old':
        return unavailable('git_too_old', git.message);
      case 'ok':
        return unavailable('no_repository');
    }
  }

  #add(root: string, folder: vscode.WorkspaceFolder): void {
    const project = new Project({
      root,
      folder,
      access: this.#access,
      log: this.#log,
      secrets: this.#secrets,
      changed: this.#changed,
    });
    this.#all.set(root, project);
    if (this.#access.isAtWork(root)) project.connect();
  }

  #tellList(): void {
    this.#changed.fire({ project: this.#current, change: { kind: 'list' } });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    for (const project of this.#all.values()) project.dispose();
    this.#all.clear();
    this.#changed.dispose();
  }
}
