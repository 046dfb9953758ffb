// The target's history: one merge per task, in order, with its trailers.

import type { Project } from './project.ts';

export interface LandedCommit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly subject: string;
  readonly trailers: Readonly<Record<string, string>>;
}

/** First-parent commits of the branch, oldest first. */
export function firstParents(project: Project, branch = 'main'): readonly LandedCommit[] {
  const text = project.git(
    'log',
    '--first-parent',
    '--reverse',
    '--format=%H%x00%P%x00%s%x00%(trailers:unfold,only)%x01',
    branch,
    '--',
  );
  return text
    .split('\x01')
    .map((record) => record.replace(/^\n/, ''))
    .filter((record) => record !== '')
    .map((record) => {
      const [sha = '', parents = '', subject = '', trailers = ''] = record.split('\0');
      return {
        sha,
        parents: parents.split(' ').filter((parent) => parent !== ''),
        subject,
        trailers: Object.fromEntries(
          trailers
            .split('\n')
            .filter((line) => line.includes(': '))
            .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
        ),
      };
    });
}

/** Ids of the tasks that landed on the branch, in order; an id is listed as often as it landed. */
export function landedTasks(project: Project, branch = 'main'): readonly string[] {
  return firstParents(project, branch).flatMap(({ trailers }) => {
    const id = trailers['Drover-Task'];
    return id === undefined ? [] : [id];
  });
}
