// Requests in which a person decides: what lands, which commands run, what is deleted, when the
// backend stops. A process of a run can never make them, even with the owner's token.

import type { RequestName } from '../../protocol/api.ts';

const decisions: ReadonlySet<RequestName> = new Set([
  'approve',
  'answer',
  'undo',
  'task.resolve',
  'task.merge',
  'task.send_back',
  'task.remove',
  'epic.remove',
  'run.start',
  'run.resume',
  'import',
  'reset',
  'prune',
  'worktree.prune',
  'shutdown',
  'backend.leave',
]);

/** These are a person's where they name a command that runs. */
const withGate: ReadonlySet<RequestName> = new Set(['task.add', 'task.edit']);

export function isPersonsDecision(name: RequestName, params: unknown): boolean {
  if (decisions.has(name)) return true;
  return withGate.has(name) && (params as { readonly gate?: unknown } | null)?.gate !== undefined;
}
