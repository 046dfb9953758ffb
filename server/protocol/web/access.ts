// The requests that each role may send. Pure.

import type { RequestName } from '../api.ts';
import { type OwnRequestName, type WebRole, webRoles } from './wire.ts';

/** Requests to a backend that a page may send, with the lowest role that may. */
const roleNeeded: { readonly [N in RequestName]?: WebRole } = {
  status: 'see',
  'task.show': 'see',
  why: 'see',
  attempts: 'see',
  'runs.list': 'see',
  'transcripts.search': 'see',
  report: 'see',
  'past.status': 'see',
  'log.read': 'see',
  'log.prompt': 'see',
  'events.read': 'see',
  questions: 'see',
  'board.changes': 'see',
  change: 'see',
  diff: 'see',
  'file.read': 'see',
  'step.log': 'see',
  'notes.list': 'see',
  'review.show': 'see',
  'epic.pull': 'see',
  'worktree.sizes': 'see',
  answer: 'answer',
  'task.hint': 'answer',
  'epic.add': 'decide',
  'epic.edit': 'decide',
  'epic.close': 'decide',
  'epic.move': 'decide',
  'epic.remove': 'decide',
  'epic.reply': 'decide',
  'epic.switch': 'decide',
  'task.add': 'decide',
  'task.edit': 'decide',
  'attachment.add': 'decide',
  'task.move': 'decide',
  'task.remove': 'decide',
  'plan.restore': 'decide',
  'task.pause': 'decide',
  'task.unpause': 'decide',
  'task.cancel': 'decide',
  'task.retry': 'decide',
  'task.resolve': 'decide',
  'task.send_back': 'decide',
  approve: 'decide',
  undo: 'decide',
  'target.follow': 'decide',
  'notes.add': 'decide',
  'notes.keep': 'decide',
  'notes.drop': 'decide',
  'review.overrule': 'decide',
  'worktree.prune': 'decide',
  preflight: 'decide',
  'run.start': 'decide',
  'run.resume': 'decide',
  'run.stop': 'decide',
};

const ownRoleNeeded: { readonly [N in OwnRequestName]: WebRole } = {
  'web.open': 'see',
  'web.devices': 'decide',
  'web.rename': 'decide',
  'web.remove': 'decide',
  'web.pair': 'decide',
};

/** The lowest role that may send this request. Returns null if no page may. */
export function neededRole(
  name: string,
  params: Readonly<Record<string, unknown>>,
): WebRole | null {
  if (Object.hasOwn(ownRoleNeeded, name)) return ownRoleNeeded[name as OwnRequestName];
  if (!Object.hasOwn(roleNeeded, name)) return null;
  // A plan is a question of the agent, so approving it starts nothing new.
  const approvesPlan = name === 'approve' && /^plan-\d+$/u.test(String(params['seen']));
  return approvesPlan ? 'answer' : (roleNeeded[name as RequestName] ?? null);
}

export function isAtLeast(role: WebRole, needed: WebRole): boolean {
  return webRoles.indexOf(role) >= webRoles.indexOf(needed);
}
