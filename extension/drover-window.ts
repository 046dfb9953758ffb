// All work that activation defers, composed by hand: one object for each VS Code window.

import * as vscode from 'vscode';
import { agentKinds } from '../server/core/plan/task.ts';
import type { PersonToolName } from '../server/protocol/person-tools/tools.ts';
import type { StatusSnapshot } from '../server/protocol/views.ts';
import type { HostState } from '../webview/messages/messages.ts';
import type { BackendAccess } from './backend/access.ts';
import { BackendFailure, toFailure } from './backend/failure.ts';
import { allHandlers } from './commands/all.ts';
import { BrowserPage } from './commands/browser.ts';
import { Commands, type CommandPlace } from './commands/commands.ts';
import type { CommandContext } from './commands/context.ts';
import { changedBy } from '../server/protocol/decided.ts';
import { pageSubject } from './commands/page-choices.ts';
import { askRemote } from './commands/remote.ts';
import { decide, ownVariables, seeToRun } from './commands/runs.ts';
import { setContext } from './notices/context-keys.ts';
import { MachinesView } from './fleet/machines-view.ts';
import { isForwarded, isKeyOfTree, KeysOnTheirWay, pushOfKey } from './commands/tree-keys.ts';
import type { ExportsWhenReady } from './tools/exports.ts';
import { makeExports } from './tools/exports-when-ready.ts';
import type { CommandId, PanelName, SideViewName } from './ids.ts';
import { invokeTool, prepareTool } from './tools/language-tools.ts';
import { readLink, type Link } from './links/links.ts';
import { mcpServers } from './tools/mcp-servers.ts';
import { Messages } from './notices/messages.ts';
import { withTitles } from './notices/named-ids.ts';
import type { NoticeAction } from './notices/notices.ts';
import { registerWorktreeDocuments } from './links/open-file.ts';
import type { Project } from './project/project.ts';
import { Projects } from './project/projects.ts';
import { Reactions } from './notices/reactions.ts';
import { readRules } from './commands/getting-started.ts';
import { reviewParts } from './review/review-commands.ts';
import { registerGitDocuments } from './review/git-documents.ts';
import { RemoteView } from './remote/remote-view.ts';
import {
  opensBySingleClick,
  readSettings,
  settingsSection,
  wantsLessMotion,
} from './project/settings.ts';
import { isFreshSample } from './project/sample-project.ts';
import { StatusBar } from './notices/status-bar.ts';
import { registerSettingsHelp } from './settings-file/register.ts';
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
  /** The time at which activation started, on the clock of `performance`. */
  readonly startedMs: number;
}

const measurementsMax = 500;

export class DroverWindow implements vscode.Disposable {
  readonly #parts: WindowParts;
  readonly #projects: Projects;
  readonly #messages: Messages;
  readonly #views: SideViews;
  readonly #panels: Panels;
  readonly #commands: Commands;
  readonly #disposables: vscode.Disposable[];
  readonly #measurements: { readonly name: string; readonly ms: number }[] = [];
  #focused: WebviewHost | null = null;
  readonly #keys = new KeysOnTheirWay(() => vscode.commands.executeCommand('noop'));
  readonly #browser = new BrowserPage();
  readonly exports: ExportsWhenReady;

  constructor(parts: WindowParts) {
    this.#parts = parts;
    const { extension, access, log } = parts;
    const memory = extension.workspaceState;
    this.#messages = new Messages(log);
    this.#projects = new Projects(access, log, extension);
    const takeOvers = new TakeOvers(this.#projects, this.#messages, extension);
    const review = reviewParts(extension, this.#projects, this.#messages);
    const remote = new RemoteView(this.#projects, askRemote(parts));
    const handlers = allHandlers({ takeOvers, review, remote, browser: this.#browser });
    this.#commands = new Commands(handlers, (args) => this.#context(args));
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
    const attaching = this.#measureAttaching(parts.startedMs);
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
    this.exports = makeExports(this.#projects, this.#messages, {
      measurements: this.#measurements,
      mcpServers: () => {
        const roots = this.#projects.all.map(({ root }) => root);
        return mcpServers(extension.extensionUri, roots);
      },
      openLink: (path) => this.openLink(vscode.Uri.from({ scheme: 'vscode', path })),
    });
    this.#disposables = [
      this.#projects,
      this.#views,
      this.#panels,
      takeOvers,
      remote,
      new MachinesView(this.#projects),
      ...Object.values(review),
      registerGitDocuments(this.#projects),
      registerWorktreeDocuments(this.#projects),
      registerSettingsHelp(extension.extensionUri),
      registerStepLogs(this.#projects),
      statusBar,
      reactions,
      attaching,
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) this.#lookAgain();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        const isOurs = event.affectsConfiguration(settingsSection);
        if (isOurs || event.affectsConfiguration('workbench.reduceMotion')) this.#pushStates();
      }),
    ];
  }

  #measureAttaching(startedMs: number): vscode.Disposable {
    return this.#projects.onChange(({ change }) => {
      if (change.kind !== 'attached' || change.isAgain) return;
      this.#measured('attached', performance.now() - startedMs);
    });
  }

  /** Finds the projects; starts nothing that was not requested. */
  async start(): Promise<void> {
    await this.#projects.look();
    void this.#greetSample();
  }

  /** The window that opens with a new sample shows the sample's tasks, and the next steps. */
  async #greetSample(): Promise<void> {
    const roots = this.#projects.all.map(({ root }) => root);
    if (!(await isFreshSample(this.#parts.extension.globalState, roots))) return;
    await this.runCommand('drover.showTree', []);
    const words =
      'The sample is ready: an epic with eight tasks for the demo agent, which needs no model.';
    const chosen = await this.#messages.show('info', words, ['Show Me How']);
    if (chosen === 'Show Me How') await this.runCommand('drover.openWalkthrough', []);
  }

  /**
   * A missing part may have been added elsewhere: `drover init` in a terminal, or an installation
   * of git.
   */
  #lookAgain(): void {
    if (this.#projects.current === null) void this.#projects.look();
  }

  /**
   * Opening a view needs a backend, unless a backend was stopped or has failed: then a person
   * decides.
   */
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
    const push = isKeyOfTree(args) ? pushOfKey(id) : null;
    if (push !== null) return this.#views.host('tree')?.push(push);
    const run = this.#run(id, args, this.#focused ?? this.#place(this.#projects.current));
    await (isForwarded(id) ? this.#keys.follow(run) : run);
  }

  /** A tool that a language model calls. A refusal is thrown, so that the model reads it. */
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

  /** Variables with which `drover mcp` starts runs like this window; none for another's root. */
  async mcpEnvironment(root: string): Promise<Readonly<Record<string, string>>> {
    const project = this.#projects.byRoot(root);
    if (project === null) return {};
    return await ownVariables(this.#parts.extension.secrets, project);
  }

  /** Handles an address of Drover's that was opened. It only shows something. */
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
    const place = this.#place(link.kind === 'run' ? this.#projects.current : project);
    if (link.kind === 'task') return await this.#run('drover.openStream', [link.id], place);
    if (link.kind === 'epic') return await this.#run('drover.openBoard', [link.id], place);
    await this.#run('drover.openRuns', [{ id: link.id }], place);
  }

  /** The target if nothing is selected. */
  #place(project: Project | null): CommandPlace {
    return { project, selection: [] };
  }

  async #run(id: CommandId, args: readonly unknown[], place: CommandPlace): Promise<void> {
    try {
      await this.#commands.run(id, args, place);
    } catch (error) {
      const { kind, message } = toFailure(error);
      const words = withTitles(message, place.project?.board ?? null);
      this.#messages.fail(null, new BackendFailure(kind, words));
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
      memory: extension.workspaceState,
      messages: this.#messages,
      closePanel: (webview) => this.#panels.close(webview),
      preview: async ({ openProject: project }, task) => this.#preview(project, task),
      andRun: async ({ openProject: project }, id, action) => {
        const { epic, ids } = changedBy(project.board, id);
        const added = await action(project);
        const about = { epic, ids: typeof added === 'string' ? [...ids, added] : ids };
        await seeToRun(this.#context([]), project, about);
      },
      command: this.#commands.run,
      keysDone: () => this.#keys.done(),
      readRules: ({ root }) => readRules(this.#context([]), root),
      measured: (webview, name, ms) => this.#measured(`${webview.name} ${name}`, ms),
    });
    return {
      extensionUri: extension.extensionUri,
      log,
      projects: this.#projects,
      state: (webview) => this.#stateOf(webview),
      command: this.#commands.run,
      action: (webview, name, params) => actions[name](webview, params as never),
      decided: ({ openProject: project }, id, request) => this.#decided(project, id, request),
      selected: (webview, hasFocus) => {
        if (hasFocus || !this.#panels.isPreview(webview)) this.#selected(webview);
      },
      changed: (webview) => this.#panels.keep(webview),
    };
  }

  async #decided<T>(project: Project, id: string, request: () => Promise<T>): Promise<T> {
    return await decide(this.#context([]), project, id, request);
  }

  #preview(project: Project, id: string): void {
    const task = project.board?.tasks.find((each) => each.id === id);
    if (task === undefined || !opensBySingleClick()) return;
    this.#panels.preview(pageSubject(project.root, id, null));
  }

  #measured(name: string, ms: number): void {
    this.#measurements.unshift({ name, ms });
    this.#measurements.length = Math.min(this.#measurements.length, measurementsMax);
    this.#parts.log.debug(`${name}: ${ms.toFixed(1)} ms`);
  }

  #stateOf(webview: WebviewHost): HostState {
    const { project } = webview;
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

  #selected(webview: WebviewHost): void {
    this.#focused = webview;
    const { selection, project } = webview;
    const [first] = selection;
    setContext('drover.selection', selection.length);
    const task = project?.board?.tasks.find(({ id }) => id === first);
    setContext('drover.selectionStatus', task?.status ?? '');
  }

  #pushStates(): void {
    for (const host of [...this.#views.hosts, ...this.#panels.hosts]) host.pushState();
  }

  async #act(project: Project, action: NoticeAction): Promise<void> {
    const place = this.#place(project);
    switch (action.kind) {
      case 'answer': {
        const answer = { id: action.question, choice: action.choice };
        const send = async (): Promise<unknown> => await project.request('answer', answer);
        await this.#decided(project, answer.id, send).catch((error: unknown) => {
          this.#messages.fail('The answer was not sent', error);
        });
        return;
      }
      case 'stream':
        return this.#run('drover.openStream', [action.task], place);
      case 'review':
        return this.#run('drover.review', [action.id], place);
      case 'merge':
        return this.#run('drover.mergeConflict', [action.task], place);
      case 'retry':
        return this.#run('drover.retryTask', [action.task], place);
      case 'retryFailed':
        return this.#run('drover.retryFailed', [{ ids: action.ids }], place);
      case 'run':
        return this.#run('drover.openRuns', [], place);
      case 'inbox':
        return this.#run('drover.showInbox', [], place);
    }
  }

  dispose(): void {
    this.#browser.dispose();
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function holds(board: StatusSnapshot | null, link: Exclude<Link, { kind: 'inbox' }>): boolean {
  if (board === null) return false;
  const isMeant = ({ id }: { readonly id: string }): boolean => id === link.id;
  return link.kind === 'task' ? board.tasks.some(isMeant) : board.epics.some(isMeant);
}
