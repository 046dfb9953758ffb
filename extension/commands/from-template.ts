// Creates a task from a template in the settings: asks for the template, the title, and a value for
// each placeholder.

import * as vscode from 'vscode';
import {
  listPlaceholders,
  type TaskTemplate,
  type TaskTemplates,
} from '../../server/core/exchange/templates.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import { withProject, type Handlers } from './context.ts';
import { findEpic, pickEpicForTask, findTask } from './pick.ts';
import type { Target } from './target.ts';

const titleMax = 500;
const valueMax = 20_000;
const title = 'New Task from Template';

export const fromTemplateHandlers: Handlers<'drover.newTaskFromTemplate'> = {
  'drover.newTaskFromTemplate': withProject(async ({ messages, showPanel }, project, target) => {
    const templates = await templatesOf(project);
    if (Object.keys(templates).length === 0) {
      messages.tell(
        'info',
        'No templates are defined. Add one as [templates.<name>] to .drover.toml.',
      );
      return;
    }
    const name = await pickTemplate(templates);
    const template = name === null ? undefined : templates[name];
    if (name === null || template === undefined) return;
    const given = needsTitle(template) ? await askFor('Title of the task', titleMax) : '';
    if (given === null) return;
    const values = await askForValues(template);
    if (values === null) return;
    const epic = await epicFor(project, target);
    if (epic === undefined) return;
    const place = epic === null ? {} : { epic };
    const task = await project.request('task.add', {
      title: given,
      template: name,
      set: values,
      ...place,
    });
    showPanel('stream', { root: project.root, id: task.id, attempt: null });
  }),
};

/** Requested again, because the cached board does not include later changes of settings. */
async function templatesOf(project: Project): Promise<TaskTemplates> {
  const { config } = await project.request('status', {});
  // Read from Drover's own settings, checked by the same code.
  return (config['templates']?.value ?? {}) as TaskTemplates;
}

/**
 * A template with its own title and no placeholder for another title is for tasks without a title.
 */
function needsTitle(template: TaskTemplate): boolean {
  const hasOwn = (template.title ?? '').trim() !== '';
  return !hasOwn || listPlaceholders(template).includes('title');
}

async function pickTemplate(templates: TaskTemplates): Promise<string | null> {
  const items = Object.entries(templates).map(([name, template]) => ({
    label: name,
    description: plainText(template.title ?? '', 120),
    detail: plainText(template.description ?? '', 200),
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: 'Which template?',
    matchOnDescription: true,
  });
  return chosen?.label ?? null;
}

/** Returns null if the user cancels. The title is asked for separately. */
async function askForValues(template: TaskTemplate): Promise<Record<string, string> | null> {
  const values: Record<string, string> = {};
  for (const placeholder of listPlaceholders(template)) {
    if (placeholder === 'title') continue;
    const value = await askFor(placeholder, valueMax);
    if (value === null) return null;
    values[placeholder] = value;
  }
  return values;
}

async function askFor(prompt: string, max: number): Promise<string | null> {
  const text = await vscode.window.showInputBox({
    title,
    prompt,
    ignoreFocusOut: true,
    validateInput: (input) => {
      if (input.trim() === '') return 'This is required.';
      return input.length > max ? 'This is too long.' : null;
    },
  });
  return text?.trim() ?? null;
}

/**
 * The selected epic, or the epic of the selected task. Asks before it reopens a landed epic.
 * Undefined if the user canceled, null for no epic.
 */
async function epicFor(project: Project, { ids }: Target): Promise<string | null | undefined> {
  const [id] = ids;
  if (id === undefined) return null;
  const epic = findEpic(project, id) ?? findEpic(project, findTask(project, id)?.epic_id ?? '');
  if (epic?.landing_state === 'landed') return await pickEpicForTask(project);
  return epic?.id ?? null;
}
