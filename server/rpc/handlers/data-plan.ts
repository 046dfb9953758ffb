// Epics and tasks: adding, changing, showing.

import { Refusal } from '../../core/failure.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import { fillTemplate, type TaskTemplates } from '../../core/exchange/templates.ts';
import type { Handlers, TaskView } from '../../protocol/api.ts';
import { type TaskFields, taskFieldShapes } from '../../protocol/task-fields.ts';
import { addEpic, closeEpic, editEpic } from '../../store/plan/epics.ts';
import { showEpic, showTask } from '../../store/board/show.ts';
import { readEpics } from '../../store/board/snapshot.ts';
import { addTask } from '../../store/plan/tasks.ts';
import { editTask } from '../../store/plan/task-edit.ts';
import {
  flagOf,
  given,
  idOf,
  nullableText,
  optionalInteger,
  optionalText,
  optionalTexts,
  recordOf,
  textOf,
  textsByName,
} from './params.ts';
import type { DataHandlerDeps } from './data-deps.ts';

type PlanRequests =
  | 'epic.add'
  | 'epic.list'
  | 'epic.show'
  | 'epic.edit'
  | 'epic.close'
  | 'task.add'
  | 'task.edit'
  | 'task.show';

export function planHandlers(deps: DataHandlerDeps): Pick<Handlers, PlanRequests> {
  const { store } = deps;
  const { db, sources } = store;
  return {
    'epic.add': async (params) => {
      const { title, description, runs_on: runsOn } = recordOf(params);
      const fields = {
        title: textOf(title, 'title'),
        ...given({
          description: optionalText(description, 'description'),
          runs_on: nullableText(runsOn, 'runs_on'),
        }),
      };
      const row = await store.transaction((tx) => addEpic(tx, sources, fields));
      return showEpicAlone(deps, row.id);
    },
    'epic.list': async () => readEpics(db),
    'epic.show': async (params) => showEpic(db, idOf(recordOf(params)['id'])),
    'epic.edit': async (params) => {
      const { id, title, description, runs_on: runsOn } = recordOf(params);
      const fields = given({
        title: optionalText(title, 'title'),
        description: optionalText(description, 'description'),
        runs_on: nullableText(runsOn, 'runs_on'),
      });
      const row = await store.transaction((tx) => editEpic(tx, sources, idOf(id), fields));
      return showEpicAlone(deps, row.id);
    },
    'epic.close': async (params) => {
      const id = idOf(recordOf(params)['id']);
      await store.transaction((tx) => closeEpic(tx, sources, id));
      return showEpicAlone(deps, id);
    },
    'task.add': async (params) => {
      const record = recordOf(params);
      const settings = deps.settings();
      const { subTasks, ...common } = fromTemplate(settings.templates, record);
      const own = taskFields(record);
      const fields = {
        ...common,
        ...own,
        title: common.title,
        accept: [...(common.accept ?? []), ...(own.accept ?? [])],
        labels: [...(common.labels ?? []), ...(own.labels ?? [])],
        ...given({
          sequence: optionalInteger(record['sequence'], 'sequence', { min: 1, max: 1_000_000 }),
        }),
      };
      const row = await store.transaction(async (tx) => {
        const labels = [...settings.defaultLabels, ...fields.labels];
        const maxAttempts = fields.max_attempts ?? settings.maxAttempts;
        const added = await addTask(tx, sources, { ...fields, labels, max_attempts: maxAttempts });
        for (const title of subTasks) {
          await addTask(tx, sources, { title, parent: added.id, max_attempts: maxAttempts });
        }
        return added;
      });
      return showTask(db, row.id);
    },
    'task.edit': async (params) => {
      const record = recordOf(params);
      const id = idOf(record['id']);
      const fields = taskFields(record);
      const row = await store.transaction((tx) => editTask(tx, sources, id, fields));
      return withRunningWarning(await showTask(db, row.id));
    },
    'task.show': async (params) => showTask(db, idOf(recordOf(params)['id'])),
  };
}

/**
 * The fields that a template gives, its title filled with the given one; without a template, that
 * alone.
 */
function fromTemplate(
  templates: TaskTemplates,
  record: Readonly<Record<string, unknown>>,
): TaskFields & { readonly title: string; readonly subTasks: readonly string[] } {
  const title = textOf(record['title'], 'title');
  const values = textsByName(record['set'], 'set');
  const name = optionalText(record['template'], 'template');
  if (name === undefined) {
    if (Object.keys(values).length === 0) return { title, subTasks: [] };
    throw new Refusal('bad_request', 'Values are for a template; name it with --template.');
  }
  const { sub_tasks: subTasks, ...filled } = fillTemplate(templates, name, { title, values });
  return { ...filled, subTasks: subTasks ?? [] };
}

async function showEpicAlone(
  deps: DataHandlerDeps,
  id: string,
): Promise<Awaited<ReturnType<Handlers['epic.add']>>> {
  const { tasks: _tasks, ...epic } = await showEpic(deps.store.db, id);
  return epic;
}

/** An agent at work keeps what it was told when it began. */
function withRunningWarning(view: TaskView): TaskView {
  if (!ownedStatuses.has(view.status)) return view;
  const warning = `${view.id} is running, and its agent has the earlier text. Use "drover hint" to tell it more now.`;
  return { ...view, warnings: [...view.warnings, warning] };
}

const anyInteger = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

/** Types alone are checked here; what the values may be is the store's rule. */
function taskFields(record: Readonly<Record<string, unknown>>): TaskFields {
  const title = optionalText(record['title'], 'title');
  const fields = Object.entries(taskFieldShapes)
    .filter(([name]) => name !== 'sequence')
    .map(([name, shape]) => [name, fieldOf(record[name], name, shape)] as const);
  return given({ title, ...Object.fromEntries(fields) });
}

function fieldOf(
  value: unknown,
  name: string,
  shape: (typeof taskFieldShapes)[keyof typeof taskFieldShapes],
): unknown {
  switch (shape) {
    case 'text?':
      return optionalText(value, name);
    case 'text or null?':
      return nullableText(value, name);
    case 'texts?':
      return optionalTexts(value, name);
    case 'number?':
      return optionalInteger(value, name, anyInteger);
    case 'number or text?':
      return typeof value === 'number' ? value : optionalText(value, name);
    case 'flag?':
      return value === undefined ? undefined : flagOf(value, name);
  }
}
