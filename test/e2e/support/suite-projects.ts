// Projects of a suite: each test makes those that it needs, and everything is ended after it,
// whatever its result.

import { makeProject, type Project, type ProjectOptions } from './project.ts';

/**
 * Call in a suite; the returned function makes a project for the running test, with these options
 * unless it gives others.
 */
export function useProjects(shared: ProjectOptions = {}): (options?: ProjectOptions) => Project {
  let projects: Project[] = [];
  teardown(async function () {
    const ending = projects;
    projects = [];
    const isKept = this.currentTest?.isFailed() === true && process.env['DROVER_E2E_KEEP'] === '1';
    const ends = await Promise.allSettled(ending.map((project) => project.end(isKept)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });
  return (options) => {
    const project = makeProject({ ...shared, ...options });
    projects.push(project);
    return project;
  };
}
