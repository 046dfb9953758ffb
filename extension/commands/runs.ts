// Runs: the checks before one, its start, its end, and resuming it.

import type * as vscode from 'vscode';
import { isOneOf } from '../../server/core/one-of.ts';
import { landModes, type LandMode } from '../../server/core/plan/task.ts';
import { runnableStatuses } from '../../server/core/plan/state.ts';
import {
  type Changed,
  isLeftAlone,
  nothingNamed,
  runAfterDecision,
  runLikeLast,
} from '../../server/protocol/decided.ts';
import type { RunOptions } from '../../server/protocol/requests/runs.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { BackendFailure, toFailure } from '../backend/failure.ts';
import { personEnvironment, type Project } from '../project/project.ts';
import { remoteVariables } from '../project/remote-secrets.ts';
import { fleetVariables, secretVariables } from '../project/secrets.ts';
import { settingVariables } from '../project/settings-table.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';
import { pickEpic, pickTasks } from './pick.ts';
import { askPreflight, type RunScope, scopeParams } from './preflight.ts';
import { readStoredChoices, withSettings, type RunChoices } from './run-choices.ts';
import type { Target } from './target.ts';

export const runHandlers: Handlers<
  | 'drover.runEpic'
  | 'drover.runAll'
  | 'drover.runTask'
  | 'drover.resumeRun'
  | 'drover.stopRun'
  | 'drover.preflight'
  | 'drover.retryFailed'
> = {
  'drover.runEpic': withProject(async (context, project, target) => {
    const epic = await pickEpic(project, target, 'Run Epic');
    if (epic !== undefined) await run(context, project, { epic, tasks: null });
  }),
  'drover.runAll': withProject(async (context, project) => {
    await run(context, project, { epic: null, tasks: null });
  }),
  'drover.runTask': withProject(async (context, project, target) => {
    const fits = ({ status }: TaskView): boolean => runnableStatuses.includes(status);
    const tasks = await pickTasks(project, target, 'Run This Task', fits);
    if (tasks !== null) await run(context, project, scopeOf(project, tasks));
  }),
  'drover.preflight': withProject(async (context, project, target) => {
    const epic = await pickEpic(project, target, 'Check Before a Run');
    if (epic !== undefined) await run(context, project, { epic, tasks: null }, true);
  }),
  'drover.resumeRun': withProject(async ({ extension, messages }, project) => {
    await resume(extension, messages, project);
  }),
  'drover.stopRun': withProject(async (context, project) => {
    const { stopped } = await project.request('run.stop', {});
    if (stopped.length > 0) void offerResume(context, project);
    else context.messages.tell('info', 'No run is active.');
  }),
  'drover.retryFailed': withProject(async (context, project, target) => {
    await retryFailed(context, project, target);
  }),
};

/** Only these tasks and their blockers; a sub-task runs with its task. */
function scopeOf({ board }: Project, tasks: readonly TaskView[]): RunScope {
  const top = (task: TaskView): TaskView => {
    const above = board?.tasks.find(({ id }) => id === task.parent_id);
    return above === undefined ? task : top(above);
  };
  const tops = [...new Set(tasks.map(top))];
  const [only, ...others] = new Set(tops.map(({ epic_id: epic }) => epic));
  const epic = others.length > 0 ? null : board?.epics.find(({ id }) => id === only);
  return { epic: epic ?? null, tasks: tops };
}

/** Retries the named tasks or epics, otherwise the whole board. */
async function retryFailed(
  context: CommandContext,
  project: Project,
  { ids, isExplicit }: Target,
): Promise<void> {
  const named = new Set(isExplicit ? ids : []);
  const isMeant = ({ id, epic_id: epic }: TaskView): boolean =>
    named.size === 0 || named.has(id) || (epic !== null && named.has(epic));
  const failed = (project.board?.tasks ?? []).filter(
    (task) => isMeant(task) && (task.status === 'failed' || (isExplicit && task.block !== null)),
  );
  if (failed.length === 0) return context.messages.tell('info', 'No task has failed.');
  const refused: string[] = [];
  for (const { id } of failed) {
    await project.request('task.retry', { id }).catch((error: unknown) => {
      refused.push(toFailure(error).message);
    });
  }
  if (refused.length > 0) context.messages.tell('warning', `Retry: ${refused.join(' ')}`);
  const epics = new Set(failed.map(({ epic_id: epic }) => epic));
  const [only] = epics;
  if (refused.length === failed.length) return;
  const epic = epics.size === 1 ? (only ?? null) : null;
  await seeToRun(context, project, { epic, ids: failed.map(({ id }) => id) });
}

async function resume(
  extension: CommandContext['extension'],
  messages: CommandContext['messages'],
  project: Project,
): Promise<void> {
  const env = await runEnvironment(extension.secrets, project);
  const resumed = await project.request('run.resume', { env });
  messages.tell('info', resumed.message);
}

async function offerResume(
  { extension, messages }: CommandContext,
  project: Project,
): Promise<void> {
  const words = 'The run was stopped. Its agents were ended, their work is kept.';
  if ((await messages.show('info', words, ['Resume'])) !== 'Resume') return;
  try {
    await resume(extension, messages, project);
  } catch (error) {
    messages.fail('The run could not be resumed', error);
  }
}

/** A person who was asked first has already read the warnings. */
async function run(
  context: CommandContext,
  project: Project,
  scope: RunScope,
  asksFirst = project.settings.showPreflight,
): Promise<void> {
  const { extension, messages } = context;
  const env = (): ReturnType<typeof runEnvironment> => runEnvironment(extension.secrets, project);
  const decided = asksFirst ? await askPreflight(context, project, scope, env) : null;
  if (asksFirst && decided === null) return;
  try {
    const options = await runOptions(extension, project, scope.epic?.id ?? null, decided);
    const started = await project.request('run.start', { ...options, ...scopeParams(scope) });
    if (started.joined) messages.tell('info', started.message);
    if (!asksFirst) for (const warning of started.warnings) messages.tell('warning', warning);
  } catch (error) {
    const { kind, message } = toFailure(error);
    const text = `The run could not start: ${message}`;
    if (kind === 'bad_configuration') throw new BackendFailure(kind, text);
    void offerCheck(context, project, scope, text);
  }
}

/** The message stays until the user closes it, because a refused run leaves no other trace. */
async function offerCheck(
  context: CommandContext,
  project: Project,
  scope: RunScope,
  text: string,
): Promise<void> {
  const { messages } = context;
  try {
    const pressed = await messages.show('error', text, [checkAgain]);
    if (pressed === checkAgain) await run(context, project, scope, true);
  } catch (error) {
    messages.fail(null, error);
  }
}

const checkAgain = 'Check Again';

/**
 * Starts a run with the settings and the last choices; null is a run of all open tasks. Returns the
 * result.
 */
export async function startLikeAsked(
  extension: Pick<vscode.ExtensionContext, 'secrets' | 'workspaceState'>,
  project: Project,
  epic: string | null,
): Promise<string> {
  const { run, joined } = await project.request('run.start', {
    ...(epic === null ? {} : { epic }),
    ...(await runOptions(extension, project, epic, null)),
  });
  return joined ? `Run ${run.id} is active already and covers this.` : `Run ${run.id} has started.`;
}

/** The choices for such a run, on top of VS Code's settings; the caller sets its scope. */
async function runOptions(
  { secrets, workspaceState }: Pick<vscode.ExtensionContext, 'secrets' | 'workspaceState'>,
  project: Project,
  epic: string | null,
  decided: RunChoices | null,
): Promise<Omit<RunOptions, 'epic'>> {
  const choices = decided ?? readStoredChoices(workspaceState, project.root, epic);
  return {
    ...withSettings(project.settings, choices),
    env: await runEnvironment(secrets, project),
  };
}

interface RunContext {
  readonly extension: Pick<vscode.ExtensionContext, 'secrets' | 'workspaceState'>;
  readonly messages: CommandContext['messages'];
}

/**
 * Released tasks continue: if a run had no other work, it has ended in the meantime, so a similar
 * run starts. If it is still active, the tasks join it.
 */
export async function continueAfter(
  extension: Pick<vscode.ExtensionContext, 'secrets' | 'workspaceState'>,
  project: Project,
  about: Changed = nothingNamed,
): Promise<{ readonly joined: boolean } | null> {
  const last = project.board?.run ?? null;
  if (last === null) return null;
  const epic = last.epic_id === null ? null : (about.epic ?? last.epic_id);
  return await project.request('run.start', {
    ...readStoredChoices(extension.workspaceState, project.root, epic),
    ...runLikeLast(project.board, about),
    land: epic === last.epic_id ? last.land : await landOfEpic(project, epic, last.land),
    env: await runEnvironment(extension.secrets, project),
  });
}

/** An epic lands as in its own last run, not as in another run since. */
async function landOfEpic(
  project: Project,
  epic: string | null,
  otherwise: LandMode,
): Promise<LandMode> {
  const { runs } = await project.request('runs.list', {});
  const own = runs.find((run) => run.epic_id === epic)?.land;
  return isOneOf(landModes, own) ? own : otherwise;
}

/**
 * After a change that an agent must work on, or that lets work land, starts a run like the last one
 * if none is active, and shows a message. Returns true if it started one.
 */
export async function seeToRun(
  { extension, messages }: RunContext,
  project: Project,
  about: Changed = nothingNamed,
): Promise<boolean> {
  const last = project.board?.run ?? null;
  if (last === null || !isLeftAlone(project.board, about)) return false;
  try {
    const started = await continueAfter(extension, project, about);
    if (started === null || started.joined) return false;
  } catch (error) {
    messages.fail('It is ready, but no run could start', error);
    return false;
  }
  const wanted = last.epic_id === null ? null : (about.epic ?? last.epic_id);
  const epic = project.board?.epics.find(({ id }) => id === wanted);
  const all = epic?.title ?? 'all open tasks';
  const what = last.tasks === undefined ? all : 'the chosen tasks';
  messages.tell('info', `A run of ${what} has started again.`);
  return true;
}

/** Applies a person's decision on a task, and starts a run if the next step needs one. */
export async function decide<T>(
  context: RunContext,
  project: Project,
  id: string,
  request: () => Promise<T>,
): Promise<T> {
  const about = runAfterDecision(project.board, id);
  const result = await request();
  if (about !== null) await seeToRun(context, project, about);
  return result;
}

/** Values that only this window knows: its settings, the stored keys, the fleet's database. */
export async function ownVariables(
  secrets: CommandContext['extension']['secrets'],
  project: Project,
): Promise<Readonly<Record<string, string>>> {
  const { settings } = project;
  const secret = await secretVariables(secrets, settings.apiKeyVariable);
  const fleet = await fleetVariables(secrets, project.root);
  const remote = await remoteVariables(secrets, project.root);
  return { ...settingVariables(settings), ...remote, ...secret, ...fleet };
}

/** The environment of a run: the person's own, the settings, and the stored key. */
export async function runEnvironment(
  secrets: CommandContext['extension']['secrets'],
  project: Project,
): Promise<Readonly<Record<string, string>>> {
  return { ...personEnvironment(project.settings), ...(await ownVariables(secrets, project)) };
}
