// The conditions that must hold when nothing changes any more.

import { trailer } from './checks.ts';
import type { World } from './world.ts';
import type { Sha } from '../../server/git/sha.ts';

interface TaskFacts {
  readonly id: string;
  readonly status: string;
  readonly parent_id: string | null;
  readonly blocked_reason: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly stop_requested: string | null;
  readonly landed_sha: Sha | null;
  readonly landed_on: string | null;
}

function tasksOf(world: World): TaskFacts[] {
  return world.rows<TaskFacts>('select * from tasks');
}

/** No run is active, so nothing may be owned, landing or half done. */
export function checkSettled(world: World): void {
  checkWorkflows(world);
  for (const task of tasksOf(world)) {
    if (['claimed', 'in_progress'].includes(task.status) && task.parent_id === null)
      world.violate('stuck', `${task.id} is ${task.status} and nobody works on it`);
    if (task.attempts > task.max_attempts)
      world.violate('bounds', `${task.id} has used ${task.attempts} of ${task.max_attempts}`);
  }
  const left = world.agents.live().map((agent) => agent.request.runId);
  if (left.length > 0) world.violate('one-agent', `nobody follows ${left.join(', ')}`);
}

function checkWorkflows(world: World): void {
  for (const row of world.rows<{ id: string; error: string }>(
    "select id, error from workflows where state = 'failed'",
  ))
    world.violate('unexpected', `workflow ${row.id} failed: ${row.error}`);
}

/** Everything is completed. */
export function checkEnd(world: World): void {
  checkSettled(world);
  checkLines(world);
  const open = world.rows<{ task_id: string; state: string }>(
    "select task_id, state from landings where state in ('queued', 'taken')",
  );
  for (const row of open) world.violate('stuck', `the landing of ${row.task_id} is ${row.state}`);
  const held = world.rows<{ path: string; task_id: string }>(
    // A base's gate may outlast the run that requested it. A process that hung may have started a
    // gate when it woke; the next backend frees its worktree when it starts.
    `select path, task_id from slots where task_id is not null ${world.scenario.standsStill > 0 ? "and kind = 'task'" : ''}
      and not exists (select 1 from base_gates
        where state = 'running' and task_id = 'gate:' || commit_sha)`,
  );
  for (const slot of held)
    world.violate('stuck', `${slot.path} is kept for ${slot.task_id}, which is completed`);
}

function checkLines(world: World): void {
  const { refs, objects } = world.repository;
  for (const [ref, tip] of refs) {
    if (!ref.startsWith('refs/drover/land/')) continue;
    const seen = new Set<string>();
    for (const sha of objects.ancestors(tip)) {
      const commit = objects.commit(sha);
      const task = trailer(commit, 'Drover-Task');
      if (task === null || commit.parents.length < 2) continue;
      const key = `${task} ${trailer(commit, 'Drover-Attempt')}`;
      if (seen.has(key)) world.violate('landed-once', `${key} is on ${ref} twice`);
      seen.add(key);
    }
  }
  for (const task of tasksOf(world)) {
    const { landed_sha: sha, landed_on: branch } = task;
    if (sha === null || branch === null || world.scenario.personRewinds) continue;
    const tip = refs.get(`refs/drover/land/${branch}`) ?? '';
    // An epic that continues starts from its target, and a manual merge has the person's line as
    // its first parent.
    const isDirect = !branch.startsWith('drover/') && world.handMerges === 0;
    const held = isDirect
      ? objects.firstParents(tip).some((commit) => commit.sha === sha)
      : objects.isAncestor(sha, tip);
    if (!held) world.violate('landed-once', `${task.id} is completed, but not on ${branch}`);
  }
}

/** Branches that lack their landed work, although nothing of the person's is in the way. */
export function notArrived(world: World): string[] {
  const { refs, objects, checkout } = world.repository;
  const late: string[] = [];
  for (const { branch } of world.rows<{ branch: string }>('select branch from lines')) {
    const ref = `refs/heads/${branch}`;
    if (checkout.branch === ref && world.settings.follow === 'never') continue;
    // If the person has rewound past work that arrived, that is their choice.
    if (world.scenario.personRewinds) continue;
    const tip = refs.get(`refs/drover/land/${branch}`);
    const head = refs.get(ref);
    if (tip === undefined || head === undefined || objects.isAncestor(tip, head)) continue;
    late.push(branch);
  }
  return late;
}
