// Requests that add, change and show epics and tasks.

import { Refusal } from '../../core/failure.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import { fillTemplate, type TaskTemplates } from '../../core/exchange/templates.ts';
import type { Handlers, Params, TaskView } from '../../protocol/api.ts';
import type { TaskFields } from '../../protocol/task-fields.ts';
import { addEpic, closeEpic, editEpic } from '../../store/plan/epics.ts';
import { showEpic, showTask } from '../../store/board/show.ts';
import { planReply } from '../../store/forge/pull-replies.ts';
import { setSwitches } from '../../store/forge/pull-switches.ts';
import { pullOrRefuse, showPull } from '../../store/forge/show-pull.ts';
import { readEpics } from '../../store/board/snapshot.ts';
import type { DataHandlerDeps } from './data-deps.ts';
import { editTask, addTask } from '../../store/port.ts';

type PlanRequests =
  | 'epic.add'
  | 'epic.list'
  | 'epic.show'
  | 'epic.pull'
  | 'epic.reply'
  | 'epic.switch'
  | 'epic.edit'
  | 'epic.close'
  | 'task.add'
  | 'task.edit'
  | 'task.show';

export function planHandlers(deps: DataHandlerDeps): Pick<Handlers, PlanRequests> {
  const { store } = deps;
  const { db, sources } = store;
  return {
    'epic.add': async (fields) => {
      const row = await store.transaction((tx) => addEpic(tx, sources, fields));
      return showEpicAlone(deps, row.id);
    },
    'epic.list': async () => readEpics(db),
    'epic.show': async ({ id }) => showEpic(db, id),
    'epic.pull': async ({ id }) => showPull(db, id),
    'epic.reply': async ({ id, ...reply }) => {
      await store.transaction((tx) => planReply(tx, sources, id, reply));
      return pullOrRefuse(db, id);
    },
    'epic.switch': async ({ id, ...change }) => {
      await store.transaction((tx) => setSwitches(tx, sources, id, change));
      return pullOrRefuse(db, id);
    },
    'epic.edit': async ({ id, ...fields }) => {
      const row = await store.transaction((tx) => editEpic(tx, sources, id, fields));
      return showEpicAlone(deps, row.id);
    },
    'epic.close': async ({ id }) => {
      await store.transaction((tx) => closeEpic(tx, sources, id));
      return showEpicAlone(deps, id);
    },
    'task.add': async (params) => {
      const settings = deps.settings();
      const { template: _template, set: _set, title: _title, ...own } = params;
      const { subTasks, ...common } = fromTemplate(settings.templates, params);
      const fields = {
        ...common,
        ...own,
        accept: [...(common.accept ?? []), ...(own.accept ?? [])],
        labels: [...(common.labels ?? []), ...(own.labels ?? [])],
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
    'task.edit': async ({ id, ...fields }) => {
      const row = await store.transaction((tx) => editTask(tx, sources, id, fields));
      return withRunningWarning(await showTask(db, row.id));
    },
    'task.show': async ({ id }) => withPresentRefs(deps, await showTask(db, id)),
  };
}

/** Omits kept refs that no longer exist. `why` names the command that restores each of them. */
async function withPresentRefs({ git }: DataHandlerDeps, task: TaskView): Promise<TaskView> {
  const refs: string[] = [];
  for (const ref of task.rescue_refs) {
    // If a remote does not respond, the ref may still exist.
    const tip = await git.readRef(ref).catch(() => '');
    if (tip !== null) refs.push(ref);
  }
  return refs.length === task.rescue_refs.length ? task : { ...task, rescue_refs: refs };
}

/** The template's fields with the given title inserted; without a template, only the title. */
function fromTemplate(
  templates: TaskTemplates,
  { title, template, set: values = {} }: Params<'task.add'>,
): TaskFields & { readonly title: string; readonly subTasks: readonly string[] } {
  if (template === undefined) {
    if (Object.keys(values).length === 0) return { title, subTasks: [] };
    throw new Refusal('bad_request', 'Values are for a template; name it with --template.');
  }
  const { sub_tasks: subTasks, ...filled } = fillTemplate(templates, template, { title, values });
  return { ...filled, subTasks: subTasks ?? [] };
}

async function showEpicAlone(
  deps: DataHandlerDeps,
  id: string,
): Promise<Awaited<ReturnType<Handlers['epic.add']>>> {
  const { tasks: _tasks, ...epic } = await showEpic(deps.store.db, id);
  return epic;
}

/** A running agent keeps the prompt that it started with. */
function withRunningWarning(view: TaskView): TaskView {
  if (!ownedStatuses.has(view.status)) return view;
  const warning = `${view.id} is running, and its agent has the earlier text. Use "drover hint" to tell it more now.`;
  return { ...view, warnings: [...view.warnings, warning] };
}
