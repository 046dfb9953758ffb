// Taking over a task: the agent is stopped and its own interactive program opens in a terminal in
// the worktree. When that terminal closes, the task is returned. The mapping of terminals to tasks
// survives a reload of the window.

import * as vscode from 'vscode';
import { withProject, type CommandContext, type Handlers } from './commands/context.ts';
import { changedBy } from '../server/protocol/decided.ts';
import { pickTask } from './commands/pick.ts';
import { continueAfter } from './commands/runs.ts';
import type { Messages } from './notices/messages.ts';
import { plainText } from './notices/plain-text.ts';
import type { Project } from './project/project.ts';
import type { Projects } from './project/projects.ts';

interface TakenOver {
  readonly root: string;
  readonly task: string;
  readonly title: string;
  readonly pid: number;
}

const memoryKey = 'takenOver';
const takenOverMax = 100;

export class TakeOvers implements vscode.Disposable {
  readonly #projects: Projects;
  readonly #messages: Messages;
  readonly #extension: vscode.ExtensionContext;
  readonly #byTerminal = new Map<vscode.Terminal, TakenOver>();
  readonly #subscription: vscode.Disposable;

  constructor(projects: Projects, messages: Messages, extension: vscode.ExtensionContext) {
    this.#projects = projects;
    this.#messages = messages;
    this.#extension = extension;
    this.#subscription = vscode.window.onDidCloseTerminal((terminal) => {
      const taken = this.#byTerminal.get(terminal);
      if (taken === undefined) return;
      this.#forget(terminal);
      if (hasWorked(terminal)) void this.#giveBack(taken);
      else this.#tellUnused(taken, terminal.exitStatus?.code ?? null);
    });
    void this.#findAgain();
  }

  async takeOver(project: Project, id: string, title: string): Promise<void> {
    const view = await project.request('task.take_over', { id });
    const [program, ...args] = view.command ?? [];
    const terminal = vscode.window.createTerminal({
      name: plainText(title, 40),
      cwd: view.worktree_path,
      iconPath: new vscode.ThemeIcon('person'),
      ...(program === undefined ? {} : { shellPath: program, shellArgs: args }),
    });
    const pid = (await terminal.processId) ?? 0;
    this.#byTerminal.set(terminal, { root: project.root, task: id, title, pid });
    await this.#remember();
    terminal.show();
  }

  /** Closes the task's terminal, if it exists, which returns the task. */
  closeTerminal(id: string): boolean {
    for (const [terminal, { task }] of this.#byTerminal) {
      if (task !== id) continue;
      terminal.dispose();
      return true;
    }
    return false;
  }

  #tellUnused({ title }: TakenOver, code: number | null): void {
    const how = code === null ? '' : ` (exit code ${code})`;
    this.#messages.tell(
      'warning',
      `The terminal of “${title}” ended at once${how}. The task stays paused: Return to Agent continues it.`,
    );
  }

  async #giveBack({ root, task, title }: TakenOver): Promise<void> {
    const project = this.#projects.byRoot(root);
    if (project === null) return;
    try {
      await this.giveBack(project, task, '');
      this.#messages.tell('info', `“${title}” was returned to its agent.`);
    } catch (error) {
      this.#messages.fail(`“${title}” could not be returned`, error);
    }
  }

  async giveBack(project: Project, id: string, note: string): Promise<void> {
    const about = changedBy(project.board, id);
    await project.request('task.give_back', { id, ...(note === '' ? {} : { note }) });
    await continueAfter(this.#extension, project, about);
  }

  /** After a reload, the terminals exist again as new objects with the same processes. */
  async #findAgain(): Promise<void> {
    const kept = this.#extension.workspaceState.get<readonly TakenOver[]>(memoryKey, []);
    if (kept.length === 0) return;
    for (const terminal of vscode.window.terminals) {
      const pid = await terminal.processId;
      const taken = kept.find((each) => each.pid === pid && pid !== undefined);
      if (taken !== undefined) this.#byTerminal.set(terminal, taken);
    }
    await this.#remember();
  }

  #forget(terminal: vscode.Terminal): void {
    this.#byTerminal.delete(terminal);
    void this.#remember();
  }

  async #remember(): Promise<void> {
    await this.#extension.workspaceState.update(
      memoryKey,
      [...this.#byTerminal.values()].slice(-takenOverMax),
    );
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** If a program fails before the user has typed anything, the user has not worked with it. */
function hasWorked({ exitStatus, state }: vscode.Terminal): boolean {
  const hasFailed =
    exitStatus?.reason === vscode.TerminalExitReason.Process && (exitStatus.code ?? 0) !== 0;
  return state.isInteractedWith || !hasFailed;
}

export function takeOverHandlers(
  takeOvers: (context: CommandContext) => TakeOvers,
): Handlers<'drover.takeOver' | 'drover.giveBack'> {
  return {
    'drover.takeOver': withProject(async (context, project, target) => {
      const title = 'Take Over Task';
      const task = await pickTask(project, target, title, ({ status, phase }) => {
        return status === 'in_progress' || status === 'paused' || phase === 'agent';
      });
      if (task !== null) await takeOvers(context).takeOver(project, task.id, task.title);
    }),
    'drover.giveBack': withProject(async (context, project, target) => {
      const fits = ({ status }: { status: string }): boolean => status === 'paused';
      const task = await pickTask(project, target, 'Give Task Back', fits);
      if (task === null || takeOvers(context).closeTerminal(task.id)) return;
      const note = await vscode.window.showInputBox({
        title: 'Give Task Back',
        prompt: 'What the agent should know (may be left empty).',
      });
      if (note === undefined) return;
      await takeOvers(context).giveBack(project, task.id, note);
    }),
  };
}
