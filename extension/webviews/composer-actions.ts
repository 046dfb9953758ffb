// The requests of a task page's composer to the extension: follow-ups, files, earlier messages.

import type { Memento } from 'vscode';
import type { HostActionName, HostActions } from '../../webview/messages/messages.ts';
import type { CommandId } from '../ids.ts';
import { followUpFields } from '../plan/follow-up.ts';
import { repositoryPaths } from '../project/pick-file.ts';
import type { Project } from '../project/project.ts';
import { rankPaths } from '../project/rank-paths.ts';
import type { WebviewHost } from './webview-host.ts';

export interface ComposerActionParts {
  readonly memory: Memento;
  /** Changes a task that an agent must work on, and ensures that a run is active. */
  readonly andRun: (
    webview: WebviewHost,
    id: string,
    action: (project: Project) => Promise<unknown>,
  ) => Promise<void>;
  readonly command: (
    id: CommandId,
    args: readonly unknown[],
    webview: WebviewHost,
  ) => Promise<void>;
}

type ComposerActionName = Extract<HostActionName, 'followUp' | 'findFiles' | 'sentMessages'>;

type ComposerActions = {
  readonly [N in ComposerActionName]: (
    webview: WebviewHost,
    params: HostActions[N]['params'],
  ) => Promise<HostActions[N]['result']>;
};

const sentKey = 'drover.sentMessages';
const sentMax = 50;
const messageCharsMax = 20_000;
const typedCharsMax = 500;

export function composerActions({ memory, andRun, command }: ComposerActionParts): ComposerActions {
  return {
    async followUp(webview, { task, text, plansFirst }) {
      const fields = followUpFields(String(text).slice(0, messageCharsMax));
      const plan = plansFirst === true ? { plan: true } : {};
      let id = '';
      await andRun(webview, String(task), async (project) => {
        ({ id } = await project.request('task.add', {
          ...fields,
          ...plan,
          continues: String(task),
        }));
        return id;
      });
      await command('drover.openStream', [{ task: id }], webview);
      return {};
    },
    async findFiles(webview, { text }) {
      const paths = await repositoryPaths(webview.openProject);
      return { paths: rankPaths(paths, String(text).slice(0, typedCharsMax)) };
    },
    async sentMessages(_webview, { add }) {
      const known = memory.get<unknown>(sentKey);
      const texts = Array.isArray(known) ? known.filter((each) => typeof each === 'string') : [];
      if (typeof add !== 'string' || add.trim() === '') return { texts };
      const text = add.slice(0, messageCharsMax);
      const more = [...texts.filter((each) => each !== text), text].slice(-sentMax);
      await memory.update(sentKey, more);
      return { texts: more };
    },
  };
}
