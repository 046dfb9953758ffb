// The running parts, as in-host tests see them.

import type { ExportsWhenReady, ProjectForTests } from './exports.ts';
import type { Messages } from '../notices/messages.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';

export function makeExports(
  projects: Projects,
  messages: Messages,
  rest: Pick<ExportsWhenReady, 'measurements' | 'openLink' | 'mcpServers'>,
): ExportsWhenReady {
  return {
    projects: () => projects.all.map(projectForTests),
    shown: messages.shown,
    ...rest,
    until(holds, timeoutMs) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const { current, connection } = projects;
          if (!holds(connection, current?.board ?? null)) return;
          end();
          resolve(current === null ? null : projectForTests(current));
        };
        const subscription = projects.onChange(look);
        const timer = setTimeout(() => {
          end();
          const { connection, current } = projects;
          const { counts, run, seq } = current?.board ?? {};
          const now = JSON.stringify({ connection, counts, run, seq });
          reject(
            new Error(
              `The expected state was not reached in ${timeoutMs} ms; the state is ${now}.`,
            ),
          );
        }, timeoutMs);
        const end = (): void => {
          subscription.dispose();
          clearTimeout(timer);
        };
        look();
      });
    },
  };
}

function projectForTests(project: Project): ProjectForTests {
  return {
    root: project.root,
    get connection() {
      return project.connection;
    },
    get board() {
      return project.board;
    },
    request: (name, params) => project.request(name, params),
  };
}
