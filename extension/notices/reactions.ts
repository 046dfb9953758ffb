// The board's effects outside webviews: status bar, context keys, titles, badges, and messages for
// a person.

import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import type { RunView, StatusSnapshot } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { setContext } from './context-keys.ts';
import { costLines } from './cost-lines.ts';
import { LandedDecisions } from './landed-decisions.ts';
import type { Messages } from './messages.ts';
import { isStillOpen, NoticeMemory, toShow, type Notice, type NoticeAction } from './notices.ts';
import { notificationCommand } from './os-notification.ts';
import { plainText } from './plain-text.ts';
import type { Project, ProjectChange } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { RunEnds, runEndNotice } from './run-end.ts';
import { readSettings } from '../project/settings.ts';
import type { StatusBar } from './status-bar.ts';
import { CostToday } from './today.ts';
import { addUp, nothing, reattachedText, summarise, type Summary } from './summary.ts';
import type { Panels } from '../webviews/panels.ts';
import type { SideViews } from '../webviews/side-views.ts';
import { thisPlatform } from '../../server/platform/this-platform.ts';

export interface ReactionParts {
  readonly projects: Projects;
  readonly statusBar: StatusBar;
  readonly panels: Panels;
  readonly views: SideViews;
  readonly messages: Messages;
  readonly log: vscode.LogOutputChannel;
  readonly act: (project: Project, action: NoticeAction) => Promise<void>;
}

/** Values derived from the whole board are counted at most this often. */
const recountMs = 100;
const notifyMaxMs = 10_000;

export class Reactions implements vscode.Disposable {
  readonly #parts: ReactionParts;
  readonly #notices = new WeakMap<Project, NoticeMemory>();
  readonly #decisions = new WeakMap<Project, LandedDecisions>();
  readonly #runEnds = new WeakMap<Project, RunEnds>();
  readonly #subscription: vscode.Disposable;
  readonly #today = new CostToday(() => this.#countSoon());
  #recount: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(parts: ReactionParts) {
    this.#parts = parts;
    // After all other listeners, so that the visible views are drawn first.
    this.#subscription = parts.projects.onChange((change) => {
      queueMicrotask(() => this.#take(change));
    });
  }

  #take({ project, change }: ProjectChange): void {
    if (this.#isOver) return;
    this.#countSoon();
    if (project === null) return;
    switch (change.kind) {
      case 'attached':
        return this.#attached(change.board, change.isAgain);
      case 'board':
        return this.#notify(project, change.board);
      case 'changes':
        this.#notify(project, change.board);
        return;
      case 'connection':
      case 'list':
        return this.#tellContext();
    }
  }

  /**
   * A window that finds running agents reports them; items that only wait for a person are already
   * in the inbox.
   */
  #attached(board: StatusSnapshot, isAgain: boolean): void {
    const summary = summarise(board);
    const text = isAgain || summary.running > 0 ? reattachedText(summary) : null;
    if (text !== null) this.#parts.messages.tell('info', text);
  }

  #notify(project: Project, board: StatusSnapshot): void {
    const memory = this.#notices.get(project) ?? new NoticeMemory();
    this.#notices.set(project, memory);
    const { notifications } = readSettings(project.folder.uri);
    for (const notice of toShow(memory.fresh(board), notifications)) {
      void this.#show(project, notice);
    }
    const decisions = this.#decisions.get(project) ?? new LandedDecisions();
    this.#decisions.set(project, decisions);
    for (const text of decisions.fresh(board)) {
      if (notifications !== 'none') this.#parts.messages.tell('info', text);
    }
    const ends = this.#runEnds.get(project) ?? new RunEnds();
    this.#runEnds.set(project, ends);
    const ended = ends.ended(board);
    if (ended !== null) void this.#tellEnd(project, board, ended);
  }

  async #tellEnd(project: Project, board: StatusSnapshot, run: RunView): Promise<void> {
    try {
      const report = await project.request('report', { id: run.id });
      const notice = runEndNotice(report, project.board ?? board, run);
      const { notifications } = readSettings(project.folder.uri);
      for (const shown of toShow(notice === null ? [] : [notice], notifications)) {
        await this.#show(project, shown);
      }
    } catch (error) {
      // The backend exited with its last run; the page of runs shows the same information later.
      this.#parts.log.warn(`cannot report the end of a run: ${toFailure(error).message}`);
    }
  }

  async #show(project: Project, notice: Notice): Promise<void> {
    const { messages, act } = this.#parts;
    const titles = notice.buttons.map(({ title }) => title);
    this.#tellSystem(project, notice.text);
    const chosen = await messages.show(notice.level, notice.text, titles);
    const action = notice.buttons.find(({ title }) => title === chosen)?.action;
    if (action === undefined) return;
    // VS Code keeps its messages open, so an item that was resolved elsewhere in the meantime must
    // not be handled again.
    const isOpen =
      !changesItsTask(action) || project.board === null || isStillOpen(notice, project.board);
    if (isOpen) await act(project, action);
    else messages.tell('info', 'This was already resolved.');
  }

  /**
   * VS Code shows its messages only inside its window, so a person who is elsewhere gets a
   * notification of the operating system.
   */
  #tellSystem(project: Project, text: string): void {
    const command = notificationCommand(
      {
        platform: thisPlatform,
        isRemote: vscode.env.remoteName !== undefined,
        isFocused: vscode.window.state.focused,
        isWanted: readSettings(project.folder.uri).osNotifications,
      },
      `Drover: ${plainText(project.name, 60)}`,
      plainText(text),
    );
    if (command === null) return;
    execFile(command.program, command.args, { timeout: notifyMaxMs }, (error) => {
      if (error !== null) this.#parts.log.debug(`no notification of the system: ${error.message}`);
    });
  }

  #count(): void {
    this.#recount = null;
    const { projects, statusBar, panels, views } = this.#parts;
    const all = addUp(projects.all.map(summaryOf));
    const isWanted = projects.all.length > 0 && readSettings(null).statusBar;
    statusBar.show(
      all,
      projects.all.flatMap((project) => this.#costsOf(project)),
      isWanted,
    );
    views.badge('inbox', all.needYou, `${all.needYou} waiting for you`);
    const shown = projects.all.length > 1 ? projects.current?.name : undefined;
    views.describe(shown);
    for (const project of projects.all) {
      const { board } = project;
      if (board === null) continue;
      const byId = new Map(board.tasks.map((task) => [task.id, task]));
      panels.refreshTitles(project.root, (id) => byId.get(id) ?? null);
    }
    this.#tellContext();
  }

  /** If there are several repositories, each line names its own. */
  #costsOf(project: Project): readonly string[] {
    if (project.board === null) return [];
    this.#today.readSoon(project);
    const lines = costLines(project.board, this.#today.of(project));
    const isOnly = this.#parts.projects.all.length === 1;
    return isOnly ? lines : lines.map((each) => `${plainText(project.name, 40)} – ${each}`);
  }

  #countSoon(): void {
    if (!this.#isOver) this.#recount ??= setTimeout(() => this.#count(), recountMs);
  }

  #tellContext(): void {
    const { projects } = this.#parts;
    const { connection, current, all } = projects;
    // A board that is no longer updated says nothing about the current state.
    const board = connection.kind === 'unavailable' ? null : (current?.board ?? null);
    const run = board?.run ?? null;
    setContext('drover.hasProject', current !== null);
    setContext('drover.connected', connection.kind === 'connected');
    setContext('drover.reason', connection.kind === 'unavailable' ? connection.reason : '');
    setContext('drover.running', run?.active === true);
    setContext('drover.hasPlan', (board?.tasks.length ?? 0) > 0);
    setContext('drover.hasRun', run !== null);
    setContext('drover.resumable', run !== null && !run.active && hasOpenWork(board));
    setContext('drover.severalProjects', all.length > 1);
    setContext('drover.waiting', board === null ? 0 : summarise(board).needYou);
  }

  dispose(): void {
    this.#isOver = true;
    this.#subscription.dispose();
    this.#today.dispose();
    if (this.#recount !== null) clearTimeout(this.#recount);
  }
}

/** Returns whether the action changes the message's only task. */
function changesItsTask({ kind }: NoticeAction): boolean {
  switch (kind) {
    case 'answer':
    case 'merge':
    case 'retry':
    case 'review':
      return true;
    case 'stream':
    case 'retryFailed':
    case 'run':
    case 'inbox':
      return false;
  }
}

function summaryOf({ board, connection }: Project): Summary {
  return board === null || connection.kind === 'unavailable' ? nothing : summarise(board);
}

function hasOpenWork(board: StatusSnapshot | null): boolean {
  return board !== null && board.counts.ready + board.counts.blocked + board.counts.waiting > 0;
}
