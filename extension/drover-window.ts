// Everything that activation leaves for later, put together by hand: one object for each window of
// VS Code.

import * as vscode from 'vscode';
import { agentKinds } from '../server/core/plan/task.ts';
import type { PersonToolName } from '../server/protocol/person-tools/tools.ts';
import type { StatusSnapshot } from '../server/protocol/views.ts';
import type {
  BackendRequestName,
  HostActionName,
  HostState,
} from '../webview/messages/messages.ts';
import type { BackendAccess } from './backend/access.ts';
import { BackendFailure } from './backend/failure.ts';
import { allHandlers } from './commands/all.ts';
import type { CommandContext, CommandHandler } from './commands/context.ts';
import { ownVariables, seeToRun } from './commands/runs.ts';
import { readTarget } from './commands/target.ts';
import { setContext } from './notices/context-keys.ts';
import type { ExportsWhenReady } from './tools/exports.ts';
import { exportsOf } from './tools/exports-when-ready.ts';
import type { CommandId, PanelName, SideViewName } from './ids.ts';
import { invokeTool, prepareTool } from './tools/language-tools.ts';
import { readLink, type Link } from './links/links.ts';
import { mcpServers } from './tools/mcp-servers.ts';
import { Messages } from './notices/messages.ts';
import type { NoticeAction } from './notices/notices.ts';
import { registerWorktreeDocuments } from './links/open-file.ts';
import type { Project } from './project/project.ts';
import { Projects, type ProjectsChange } from './project/projects.ts';
import { Reactions } from './notices/reactions.ts';
import { registerGitDocuments } from './review/git-documents.ts';
import { ReviewComments } from './review/review-comments.ts';
import { ShownReviews } from './review/shown-reviews.ts';
import { readSettings, settingsSection, wantsLessMotion } from './project/settings.ts';
import { StatusBar } from './notices/status-bar.ts';
import { registerStepLogs } from './notices/step-log.ts';
import { TakeOvers } from './take-over.ts';
import { hostActions } from './webviews/host-actions.ts';
import { PanelMemory } from './webviews/panel-memory.ts';
import { noteSession } from './webviews/host-restart.ts';
import { Panels } from './webviews/panels.ts';
import { SideViews } from './webviews/side-views.ts';
import type { WebviewHost, WebviewSurroundings } from './webviews/webview-host.ts';

export interface WindowParts {
  readonly extension: vscode.ExtensionContext;
  readonly access: BackendAccess;
  readonly log: vscode.LogOutputChannel;
  /** When the activation began, on the clock of `performance`. */
  readonly startedMs: number;
}

const measurementsMax = 500;

export class DroverWindow implements vscode.Disposable {
  readonly #parts: WindowParts;
  readonly #projects: Projects;
  readonly #messages: Messages;
  readonly #views: SideViews;
  readonly #panels: Panels;
  readonly #handlers: { readonly [Id in CommandId]: CommandHandler };
  readonly #disposables: vscode.Disposable[];
  readonly #selections = new WeakMap<WebviewHost, readonly string[]>();
  readonly #measurements: { readonly name: string; readonly ms: number }[] = [];
  #focused: WebviewHost | null = null;
  readonly exports: ExportsWhenReady;

  constructor(parts: WindowParts) {
    this.#parts = parts;
    const { extension, access, log } = parts;
    const memory = extension.workspaceState;
    this.#messages = new Messages(log);
    this.#projects = new Projects(access, log, extension);
    const around = this.#surroundings();
    this.#views = new SideViews(around, () => this.#shown());
    this.#panels = new Panels({
      around,
      memory: new PanelMemory(memory),
      restart: noteSession(memory, vscode.env.sessionId),
      task: (root, id) => {
        const board = this.#projects.byRoot(root)?.board;
        return board?.tasks.find((task) => task.id === id) ?? null;
      },
      onActive: (host) => (this.#focused = host),
      onClosed: (host) => {
        if (this.#focused === host) this.#focused = null;
      },
    });
    const takeOvers = new TakeOvers(this.#projects, this.#messages, extension);
    const review = { comments: new ReviewComments(memory), shown: new ShownReviews(memory) };
    this.#handlers = allHandlers({ takeOvers, review });
    // Ahead of all others that listen: what a person looks at is drawn first.
    const telling = this.#projects.onChange(({ project, change }) => {
      this.#tellWebviews(project, change);
    });
    const statusBar = new StatusBar();
    const reactions = new Reactions({
      projects: this.#projects,
      statusBar,
      panels: this.#panels,
      views: this.#views,
      messages: this.#messages,
      log,
      act: (project, action) => this.#act(project, action),
    });
    this.exports = exportsOf(this.#projects, this.#messages, {
      measurements: this.#measurements,
      mcpServers: () => {
        const roots = this.#projects.all.map(({ root }) => root);
        return mcpServers(extension.extensionUri, roots);
      },
      callTool: (name, input) => this.invokeTool(name, input),
      openLink: (path) => this.openLink(vscode.Uri.from({ scheme: 'vscode', path })),
    });
    this.#disposables = [
      this.#projects,
      this.#views,
      this.#panels,
      takeOvers,
      review.comments,
      review.shown,
      registerGitDocuments(this.#projects),
      registerWorktreeDocuments(this.#projects),
      registerStepLogs(),
      statusBar,
      reactions,
      telling,
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) this.#lookAgain();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        const isOurs = event.affectsConfiguration(settingsSection);
        if (isOurs || event.affectsConfiguration('workbench.reduceMotion')) this.#pushStates();
      }),
    ];
  }

  /** Finds the projects; nothing is started that nobody has asked for. */
  async start(): Promise<void> {
    await this.#projects.look();
  }

  /**
   * What was missing may have come from elsewhere: `drover init` in a terminal, a git that was
   * installed.
   */
  #lookAgain(): void {
    if (this.#projects.current === null) void this.#projects.look();
  }

  /** Whoever looks wants a backend, unless one was stopped or has failed: then a person decides. */
  #shown(): void {
    this.#lookAgain();
    const { current } = this.#projects;
    if (current?.connection.kind === 'connecting') current.connect();
  }

  resolveView(name: SideViewName, view: vscode.WebviewView): void {
    this.#views.resolve(name, view);
    this.#shown();
  }

  restorePanel(name: PanelName, panel: vscode.WebviewPanel, state: unknown): void {
    this.#panels.restore(name, panel, state);
    this.#shown();
  }

  async runCommand(id: CommandId, args: readonly unknown[]): Promise<void> {
    const selection = this.#selectionOf(this.#focused);
    await this.#run(id, args, selection, this.#projectOf(this.#focused));
  }

  /** A tool that a language model calls. What it refuses is thrown for the model to read. */
  async invokeTool(name: PersonToolName, input: unknown): Promise<string> {
    const project = this.#projects.current;
    const connection = (await project?.settled()) ?? this.#projects.connection;
    if (project === null || connection.kind !== 'connected') {
      const why =
        connection.kind === 'unavailable' ? connection.message : 'It is still connecting.';
      throw new Error(`Drover is not available in this window. ${why}`);
    }
    return await invokeTool(name, input, project, this.#parts.extension);
  }

  prepareTool(name: PersonToolName, input: unknown): vscode.PreparedToolInvocation {
    return prepareTool(name, input, this.#projects.current?.board ?? null);
  }

  /**
   * What `drover mcp` needs to start runs as this window does; nothing for a repository of another
   * window.
   */
  async mcpEnvironment(root: string): Promise<Readonly<Record<string, string>>> {
    const project = this.#projects.byRoot(root);
    if (project === null) return {};
    return await ownVariables(this.#parts.extension.secrets, project);
  }

  /** An address of Drover's was opened. It only shows something. */
  async openLink(uri: vscode.Uri): Promise<void> {
    const link = readLink(uri.path);
    if (link === null) {
      this.#messages.tell('warning', 'This link does not lead to anything in Drover.');
      return;
    }
    if (link.kind === 'inbox') return await this.runCommand('drover.showInbox', []);
    for (const project of this.#projects.all) await project.settled();
    const project = this.#projects.all.find(({ board }) => holds(board, link)) ?? null;
    if (project === null && link.kind !== 'run') {
      const text = `The ${link.kind} ${link.id} is not on the board of a repository in this window.`;
      this.#messages.tell('warning', text);
      return;
    }
    if (link.kind === 'task') return await this.#run('drover.openStream', [link.id], [], project);
    if (link.kind === 'epic') return await this.#run('drover.openBoard', [link.id], [], project);
    await this.#run('drover.openRuns', [{ id: link.id }], [], this.#projects.current);
  }

  async #run(
    id: CommandId,
    args: readonly unknown[],
    selection: readonly string[],
    project: Project | null,
  ): Promise<void> {
    try {
      await this.#handlers[id](this.#context(args), readTarget(args, selection), project);
    } catch (error) {
      this.#messages.fail(null, error);
    }
  }

  #context(args: readonly unknown[]): CommandContext {
    const { extension, access, log } = this.#parts;
    return {
      extension,
      access,
      log,
      projects: this.#projects,
      messages: this.#messages,
      views: this.#views,
      args,
      showPanel: (name, subject) => this.#panels.show(name, subject),
      focused: () => this.#focused,
    };
  }

  #surroundings(): WebviewSurroundings {
    const { extension, log } = this.#parts;
    const actions = hostActions({
      project: (webview) => this.#projectOf(webview),
      messages: this.#messages,
      andRun: async (webview, action) => {
        const project = this.#projectOf(webview);
        if (project === null) throw new BackendFailure('gone', 'No repository is open.');
        await action(project);
        await seeToRun(this.#context([]), project);
      },
      command: async (webview, id, argument) => {
        const selection = this.#selectionOf(webview);
        const args = argument === undefined ? [] : [argument];
        await this.#handlers[id](
          this.#context(args),
          readTarget(args, selection),
          this.#projectOf(webview),
        );
      },
      measured: (webview, name, ms) => this.#measured(`${webview.name} ${name}`, ms),
    });
    return {
      extensionUri: extension.extensionUri,
      log,
      state: (webview) => this.#stateOf(webview),
      backend: async (webview, name, params) => {
        const project = this.#projectOf(webview);
        if (project === null) throw new BackendFailure('gone', 'No repository is open.');
        return await project.request(name as BackendRequestName, params as never);
      },
      action: (webview, name: HostActionName, params) => actions[name](webview, params as never),
      selected: (webview, ids) => this.#selected(webview, ids),
    };
  }

  #measured(name: string, ms: number): void {
    this.#measurements.unshift({ name, ms });
    this.#measurements.length = Math.min(this.#measurements.length, measurementsMax);
    this.#parts.log.debug(`${name}: ${ms.toFixed(1)} ms`);
  }

  #stateOf(webview: WebviewHost): HostState {
    const project = this.#projectOf(webview);
    const { id, attempt } = webview.subject;
    return {
      webview: webview.name,
      connection: project?.connection ?? this.#projects.connection,
      board: project?.board ?? null,
      subject: { id, attempt },
      agents: agentKinds,
      settings: {
        showPreflight: readSettings(project?.folder.uri ?? null).showPreflight,
        reduceMotion: wantsLessMotion(),
      },
    };
  }

  #projectOf(webview: WebviewHost | null): Project | null {
    const root = webview?.subject.root ?? null;
    return root === null ? this.#projects.current : this.#projects.byRoot(root);
  }

  #selectionOf(webview: WebviewHost | null): readonly string[] {
    return (webview === null ? null : this.#selections.get(webview)) ?? [];
  }

  #selected(webview: WebviewHost, ids: readonly string[]): void {
    this.#focused = webview;
    this.#selections.set(webview, ids);
    const board = this.#projectOf(webview)?.board;
    const [first] = ids;
    setContext('drover.selection', ids.length);
    const task = board?.tasks.find(({ id }) => id === first);
    setContext('drover.selectionStatus', task?.status ?? '');
  }

  #tellWebviews(project: Project | null, change: ProjectsChange['change']): void {
    switch (change.kind) {
      case 'changes':
        for (const host of this.#hosts()) {
          if (this.#projectOf(host) !== project) continue;
          host.push({ type: 'changes', changes: change.changes });
        }
        return;
      case 'attached':
        if (!change.isAgain) this.#measured('attached', performance.now() - this.#parts.startedMs);
        return;
      // A board that was read anew replaces the one that a webview has.
      case 'board':
      case 'connection':
      case 'list':
        this.#pushStates();
    }
  }

  #pushStates(): void {
    for (const host of this.#hosts()) host.pushState();
  }

  #hosts(): readonly WebviewHost[] {
    return [...this.#views.hosts, ...this.#panels.hosts];
  }

  async #act(project: Project, action: NoticeAction): Promise<void> {
    switch (action.kind) {
      case 'answer': {
        const answer = { id: action.question, choice: action.choice };
        await project.request('answer', answer).catch((error: unknown) => {
          this.#messages.fail('The answer was not taken', error);
        });
        return;
      }
      case 'stream':
        return this.#run('drover.openStream', [action.task], [], project);
      case 'review':
        return this.#run('drover.review', [action.id], [], project);
      case 'resolve':
        return this.#run('drover.resolveConflict', [action.task], [], project);
      case 'retry':
        return this.#run('drover.retryTask', [action.task], [], project);
      case 'retryFailed':
        return this.#run('drover.retryFailed', [{ ids: action.ids }], [], project);
      case 'run':
        return this.#run('drover.openRuns', [], [], project);
      case 'inbox':
        return this.#run('drover.showInbox', [], [], project);
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function holds(board: StatusSnapshot | null, link: Exclude<Link, { kind: 'inbox' }>): boolean {
  if (board === null) return false;
  const isMeant = ({ id }: { readonly id: string }): boolean => id === link.id;
  return link.kind === 'task' ? board.tasks.some(isMeant) : board.epics.some(isMeant);
}
