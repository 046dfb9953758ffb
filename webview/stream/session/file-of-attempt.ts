// The file that an agent means: one in its worktree while it has the worktree, afterwards one in
// its commit.

import type { AttemptView } from '../../../server/protocol/panel-views.ts';
import type { HostActions } from '../../messages/messages.ts';
import type { FileReference } from '../../shared/text/file-reference.ts';

const absolute = /^(?:[/\\]|[A-Za-z]:)/u;

export function fileOfAttempt(
  { path, line }: FileReference,
  attempt: AttemptView | null,
  worktreeOfTask: string | null,
): HostActions['openFile']['params'] {
  const root = attempt?.worktree_path ?? worktreeOfTask;
  const at = line === null ? {} : { line };
  const isBelow = root !== null && path.startsWith(`${root}/`);
  const relative = (isBelow ? path.slice(root.length + 1) : path).replace(/^\.\//u, '');
  const sha = attempt?.ended_at_ms === null ? null : (attempt?.commit_sha ?? null);
  // By then, the worktree belongs to another task, but the commit has this task's version.
  if (sha !== null && !absolute.test(relative)) return { path: relative, sha, ...at };
  const whole = absolute.test(path) || root === null ? path : `${root}/${path}`;
  return { path: whole, ...at };
}
