// A suite's projects: each test creates the ones that it needs, and all of them are stopped after
// it, whatever its result.

import { makeProject, type Project, type ProjectOptions } from './project.ts';

/**
 * Call in a suite; the returned function creates a project for the running test, with these options
 * by default.
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
