// Runs: the checks before one, its start, its end, and going on.

import type { RunStarted } from '../../server/protocol/api.ts';
import type { EpicView } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { personEnvironment, type Project } from '../project.ts';
import { secretVariables } from '../secrets.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';
import { pickEpic } from './pick.ts';
import { askPreflight } from './preflight.ts';

export const runHandlers: Handlers<
  'drover.runEpic' | 'drover.runAll' | 'drover.resumeRun' | 'drover.stopRun' | 'drover.preflight'
> = {
  'drover.runEpic': withProject(async (context, project, target) => {
    const epic = await pickEpic(project, target, 'Run Epic');
    if (epic !== undefined) await run(context, project, epic);
  }),
  'drover.runAll': withProject(async (context, project) => {
    await run(context, project, null);
  }),
  'drover.preflight': withProject(async (context, project, target) => {
    const epic = await pickEpic(project, target, 'Check before a Run');
    if (epic === undefined) return;
    if (await askPreflight(context, project, epic)) await start(context, project, epic);
  }),
  'drover.resumeRun': withProject(async ({ extension, messages }, project) => {
    const env = await runEnvironment(extension.secrets, project);
    const resumed = await project.request('run.resume', { env });
    await messages.show('info', resumed.message);
  }),
  'drover.stopRun': withProject(async ({ messages, extension }, project) => {
    const { stopped } = await project.request('run.stop', {});
    if (stopped.length === 0) {
      await messages.show('info', 'No run is active.');
      return;
    }
    const words = 'The run was stopped. Its agents were ended, their work is kept.';
    const chosen = await messages.show('info', words, ['Resume']);
    if (chosen !== 'Resume') return;
    const env = await runEnvironment(extension.secrets, project);
    await project.request('run.resume', { env });
  }),
};

async function run(
  context: CommandContext,
  project: Project,
  epic: EpicView | null,
): Promise<void> {
  const isWanted = !project.settings.showPreflight || (await askPreflight(context, project, epic));
  if (isWanted) await start(context, project, epic);
}

async function start(
  { extension, messages }: CommandContext,
  project: Project,
  epic: EpicView | null,
): Promise<void> {
  const { land } = project.settings;
  try {
    const started = await project.request('run.start', {
      ...(epic === null ? {} : { epic: epic.id }),
      ...(land === '' ? {} : { land }),
      env: await runEnvironment(extension.secrets, project),
    });
    void tell(messages, started);
  } catch (error) {
    throw new Error(`The run could not start: ${toFailure(error).message}`, { cause: error });
  }
}

async function tell(messages: CommandContext['messages'], started: RunStarted): Promise<void> {
  if (started.joined) await messages.show('info', started.message);
  for (const warning of started.warnings) await messages.show('warning', warning);
}

/** What a run is given: the person's environment, what the settings say, and the stored key. */
export async function runEnvironment(
  secrets: CommandContext['extension']['secrets'],
  project: Project,
): Promise<Readonly<Record<string, string>>> {
  const { settings } = project;
  const secret = await secretVariables(secrets, settings.apiKeyVariable);
  return { ...personEnvironment(settings), ...secret };
}
