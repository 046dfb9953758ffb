// Programs of agents that settings name, and whether the user named them.

import { findProgram } from '../agents/kit/process/find-program.ts';
import type { NamedProgram } from '../agents/inventory.ts';
import { agentKinds, type AgentKind } from '../core/plan/task.ts';
import type { LiveSettings } from './live-settings.ts';

/**
 * Programs that only a file of the project names are started only by `run`, and only after a person
 * allows them.
 */
export function namedPrograms({ settings, loaded }: LiveSettings): {
  [K in AgentKind]?: NamedProgram;
} {
  const named: { [K in AgentKind]?: NamedProgram } = {};
  for (const kind of agentKinds) {
    const own = settings.agent.kind === kind ? settings.agent.path : null;
    const path = own ?? settings.agents[kind]?.path ?? null;
    const { source } = loaded.values[own === null ? 'agents' : 'agent.path'];
    if (path !== null) named[kind] = { path, byPerson: source !== 'project' };
  }
  return named;
}

/** The program of an agent kind if only a file of the project names it; otherwise null. */
export function programOfProject(
  live: LiveSettings,
  root: string,
  kind: string,
): { readonly path: string; readonly isFound: boolean } | null {
  const named = namedPrograms(live)[kind as AgentKind];
  if (named === undefined || named.byPerson) return null;
  const isFound = findProgram(named.path, live.environment, root) !== null;
  return { path: named.path, isFound };
}
