// Who may make a request with the owner's token. A process of a run may read, and may add tasks as
// an agent may with its own tools. Everything else is a person's decision, whatever token is
// presented. The table contains every request: a new one does not compile until it is classified.

import type { RequestName } from '../../protocol/api.ts';

/**
 * `read`: changes nothing. `own`: an agent may do the same with its own tools. `person`: starting,
 * landing, stopping and removing, texts that reach other tasks, and everything sent to others.
 */
export type Decider = 'read' | 'own' | 'person';

export const deciders: { readonly [N in RequestName]: Decider } = {
  hello: 'read',
  status: 'read',
  'past.status': 'read',
  why: 'read',
  'past.why': 'read',
  'board.changes': 'read',
  'events.read': 'read',
  subscribe: 'read',
  'log.read': 'read',
  'log.prompt': 'read',
  'machines.list': 'read',
  'step.log': 'read',
  'task.show': 'read',
  conflict: 'read',
  attempts: 'read',
  snapshots: 'read',
  diff: 'read',
  change: 'read',
  'file.read': 'read',
  questions: 'read',
  'epic.list': 'read',
  'epic.show': 'read',
  'epic.pull': 'read',
  'runs.list': 'read',
  spending: 'read',
  'transcripts.search': 'read',
  report: 'read',
  'trace.export': 'read',
  metrics: 'read',
  export: 'read',
  'worktree.list': 'read',
  'worktree.sizes': 'read',
  'webhooks.list': 'read',
  'notes.list': 'read',
  'review.show': 'read',

  'task.add': 'own',

  'task.edit': 'person',
  // It writes into the project's folder, and other tasks' agents may get the file.
  'attachment.add': 'person',
  'task.pause': 'person',
  'task.unpause': 'person',
  'task.cancel': 'person',
  'task.retry': 'person',
  'task.restore': 'person',
  'task.hint': 'person',
  'task.resolve': 'person',
  'task.merge': 'person',
  'task.send_back': 'person',
  'task.move': 'person',
  'task.remove': 'person',
  'task.take_over': 'person',
  'task.give_back': 'person',
  'plan.restore': 'person',
  'machines.drain': 'person',
  'line.release': 'person',
  reset: 'person',
  'epic.add': 'person',
  'epic.edit': 'person',
  'epic.close': 'person',
  'epic.move': 'person',
  'epic.remove': 'person',
  'epic.reply': 'person',
  'epic.switch': 'person',
  import: 'person',
  'spec.plan': 'person',
  'issues.plan': 'person',
  'spec.cancel': 'person',
  approve: 'person',
  answer: 'person',
  undo: 'person',
  'review.overrule': 'person',
  'notes.add': 'person',
  'notes.keep': 'person',
  'notes.drop': 'person',
  // It starts agents to ask for their version and login.
  preflight: 'person',
  'gate.test': 'person',
  'target.follow': 'person',
  'run.start': 'person',
  'run.resume': 'person',
  'run.stop': 'person',
  'worktree.prune': 'person',
  prune: 'person',
  'webhooks.test': 'person',
  'webhooks.retry': 'person',
  shutdown: 'person',
  'backend.leave': 'person',
};

/**
 * The fields that an agent's own tool sets. Other fields decide which agent runs, its machine, the
 * number of attempts, and the tests before it lands.
 */
const ownFields: ReadonlySet<string> = new Set([
  'title',
  'description',
  'type',
  'labels',
  'accept',
  'blocked_by',
]);

export function isPersonsDecision(name: RequestName, params: unknown): boolean {
  if (deciders[name] !== 'own') return deciders[name] === 'person';
  return Object.keys(params ?? {}).some((field) => !ownFields.has(field));
}
