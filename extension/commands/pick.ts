// Quick picks over the board: a task, an epic or a project.

import * as vscode from 'vscode';
import { countsByEpic, noTasks, type OutcomeCounts } from '../../server/core/plan/outcome.ts';
import { completedShare } from '../../server/core/plan/outcome-words.ts';
import type { EpicView, TaskView } from '../../server/protocol/views.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import { statusIcons, statusWords } from '../webviews/status-icon.ts';
import { taskPlaces, type Target } from './target.ts';

/** More rows than a person scrolls through; typing filters the list. */
const rowsMax = 2_000;

export function findTask(project: Project, id: string): TaskView | null {
  return project.board?.tasks.find((task) => task.id === id) ?? null;
}

export function findEpic(project: Project, id: string): EpicView | null {
  return project.board?.epics.find((epic) => epic.id === id) ?? null;
}

/**
 * The tasks of a command. If the arguments name none, the user picks from the offered ones. Returns
 * null if they canceled.
 */
export async function pickTasks(
  project: Project,
  target: Target,
  title: string,
  fits: (task: TaskView) => boolean,
  offered: readonly TaskView[] = project.board?.tasks ?? [],
): Promise<readonly TaskView[] | null> {
  const meant = target.ids.flatMap((id) => findTask(project, id) ?? []);
  if (meant.length > 0) {
    const fitting = meant.filter(fits);
    return fitting.length > 0 ? fitting : meant;
  }
  const choices = offered.filter(fits).slice(0, rowsMax);
  if (choices.length === 0) {
    void vscode.window.showInformationMessage(`${title}: no task is eligible.`);
    return null;
  }
  const chosen = await vscode.window.showQuickPick(choices.map(taskItem), {
    title,
    matchOnDescription: true,
    placeHolder: 'Which task?',
  });
  return chosen === undefined ? null : [chosen.task];
}

export async function pickTask(
  project: Project,
  target: Target,
  title: string,
  fits: (task: TaskView) => boolean,
  offered: readonly TaskView[] = project.board?.tasks ?? [],
): Promise<TaskView | null> {
  return (await pickTasks(project, target, title, fits, offered))?.[0] ?? null;
}

function taskItem(task: TaskView): vscode.QuickPickItem & { readonly task: TaskView } {
  const { icon } = statusIcons[task.status];
  return {
    task,
    label: `$(${icon}) ${plainText(task.title, 120)}`,
    description: `${plainText(task.id, 40)} · ${statusWords[task.status]}`,
  };
}

/** An epic, `null` for everything, `undefined` if the person canceled. */
export async function pickEpic(
  project: Project,
  target: Target,
  title: string,
): Promise<EpicView | null | undefined> {
  for (const id of target.ids) {
    const epic = findEpic(project, id) ?? findEpic(project, findTask(project, id)?.epic_id ?? '');
    if (epic !== null) return epic;
  }
  const epics = (project.board?.epics ?? []).filter(({ status }) => status === 'open');
  const [only] = epics;
  if (epics.length === 1 && only !== undefined) return only;
  if (epics.length === 0) return null;
  const everything = { label: '$(run-all) All open tasks', epic: null, description: '' };
  const counts: ReadonlyMap<string | null, OutcomeCounts> =
    project.board === null ? new Map() : countsByEpic(project.board);
  const items = epics.slice(0, rowsMax).map((epic) => ({
    label: `$(layers) ${plainText(epic.title, 120)}`,
    description: `${plainText(epic.id, 40)} · ${completedShare(counts.get(epic.id) ?? noTasks)} done`,
    epic,
  }));
  const chosen = await vscode.window.showQuickPick([...items, everything], {
    title,
    placeHolder: 'Which epic?',
    matchOnDescription: true,
  });
  return chosen?.epic;
}

export async function pickProject(
  projects: readonly Project[],
  title: string,
): Promise<Project | null> {
  const [only] = projects;
  if (projects.length <= 1) return only ?? null;
  const items = projects.map((project) => ({
    label: `$(repo) ${plainText(project.name, 80)}`,
    description: project.root,
    project,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title });
  return chosen?.project ?? null;
}

/** The epic of a new task. Undefined if the user canceled, null for no epic. */
export async function pickEpicForTask({ board }: Project): Promise<string | null | undefined> {
  const { open, landed } = taskPlaces(board?.epics ?? []);
  if (open.length + landed.length === 0) return null;
  const item = ({ id, title }: EpicView, description: string) => ({
    label: `$(layers) ${plainText(title, 120)}`,
    description,
    id,
  });
  const items: readonly (vscode.QuickPickItem & { readonly id: string | null })[] = [
    ...open.map((epic) => item(epic, '')),
    { label: '$(circle-slash) No epic', id: null },
    ...landed.map((epic) => item(epic, 'landed; a new task reopens it')),
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: 'In Which Epic?' });
  return chosen?.id;
}
