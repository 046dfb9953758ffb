// The requests of a plan's page to the extension.

import type { Memento } from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import type { HostActionName, HostActions } from '../../webview/messages/messages.ts';
import { toFailure } from '../backend/failure.ts';
import type { CommandId } from '../ids.ts';
import type { Messages } from '../notices/messages.ts';
import type { WebviewHost } from '../webviews/webview-host.ts';
import { addLines, checkLines, editAsText } from './add-plan.ts';
import { dropPlan, readPlan } from './kept-plans.ts';

export interface PlanActionParts {
  readonly memory: Memento;
  readonly messages: Messages;
  readonly closePanel: (webview: WebviewHost) => void;
  readonly command: (
    id: CommandId,
    args: readonly unknown[],
    webview: WebviewHost,
  ) => Promise<void>;
}

type PlanActionName = Extract<
  HostActionName,
  'readPlan' | 'checkPlan' | 'addPlan' | 'editPlan' | 'dropPlan'
>;

type PlanActions = {
  readonly [N in PlanActionName]: (
    webview: WebviewHost,
    params: HostActions[N]['params'],
  ) => Promise<HostActions[N]['result']>;
};

const run = 'Run';

export function planActions({
  memory,
  messages,
  closePanel,
  command,
}: PlanActionParts): PlanActions {
  const end = async (webview: WebviewHost): Promise<void> => {
    await dropPlan(memory, webview.subject.id);
    closePanel(webview);
  };
  return {
    readPlan: (webview) => Promise.resolve({ plan: readPlan(memory, webview.subject.id) }),
    checkPlan: (webview, { text }) => {
      const source = readPlan(memory, webview.subject.id)?.source ?? 'api';
      return checkLines(webview.openProject, String(text), source);
    },
    async addPlan(webview, { text }) {
      const plan = readPlan(memory, webview.subject.id);
      const { openProject: project } = webview;
      const added = await addLines(project, String(text), plan?.source ?? 'api').catch(
        (error: unknown) => {
          throw new Error(`Nothing was added: ${toFailure(error).message}`);
        },
      );
      await end(webview);
      await command('drover.showTree', [], webview);
      void offerRun(added, plan?.epics.length === 1 ? (plan.epics[0]?.id ?? null) : null, webview);
      return {};
    },
    async editPlan(webview, { text }) {
      const { openProject: project } = webview;
      const source = readPlan(memory, webview.subject.id)?.source ?? 'api';
      await end(webview);
      void editAsText(project, messages, String(text), source).catch((error: unknown) => {
        messages.fail('The plan could not be opened', error);
      });
      return {};
    },
    async dropPlan(webview) {
      await end(webview);
      return {};
    },
  };

  async function offerRun(added: number, epic: string | null, webview: WebviewHost): Promise<void> {
    const words = `Added: ${formatCount(added, 'task')}. Nothing runs yet.`;
    if ((await messages.show('info', words, [run])) !== run) return;
    try {
      if (epic === null) await command('drover.runAll', [], webview);
      else await command('drover.runEpic', [{ epicId: epic }], webview);
    } catch (error) {
      messages.fail(null, error);
    }
  }
}
