// A person who follows the messages until everything is done.

import { editTask } from '../../server/store/plan/task-edit.ts';
import { retryTask, unpauseTask } from '../../server/workflows/person/controls.ts';
import { approve } from '../../server/workflows/person/reviews.ts';
import type { PersonAtGit } from './person-at-git.ts';
import type { Requests, TaskFacts } from './requests.ts';
import type { World } from './world.ts';

export class HelpfulPerson {
  readonly #world: World;
  readonly #requests: Requests;
  readonly #git: PersonAtGit;
  /**
   * It was approved before, but work that comes back could not land unchanged, and must be redone.
   */
  readonly #approved = new Set<string>();

  constructor(world: World, requests: Requests, git: PersonAtGit) {
    this.#world = world;
    this.#requests = requests;
    this.#git = git;
    requests.onRefusal = (message) => {
      const told = /merge (\S+) into (\S+) by hand/.exec(message);
      if (world.calm && told !== null) git.mergeInto(told[1] ?? '', told[2] ?? '');
    };
  }

  /** Answers questions and cleans up, but makes no decisions about tasks. */
  actKindly(): void {
    this.#requests.answer();
    this.#git.tidy();
  }

  act(): void {
    if (this.#requests.isWaiting) return;
    this.actKindly();
    this.#git.mend();
    for (const task of this.#requests.tasks()) this.#help(task);
    for (const { id } of this.#world.rows<{ id: string }>(
      "select id from epics where landing_state = 'needs_review'",
    ))
      this.#requests.one('approve', id, approve);
    this.#helpBlockedByCancelled();
    this.#helpLines();
    const [active] = this.#world.rows("select id from runs where state = 'active'");
    if (active === undefined && unfinishedTasks(this.#world).length > 0) this.#requests.run(null);
  }

  /** A cancelled sub-task can't be retried alone, so it is removed. */
  #helpBlockedByCancelled(): void {
    const edges = this.#world.rows<{ task_id: string; blocked_by: string }>(
      `select d.task_id, d.blocked_by from task_dependencies d
       join tasks b on b.id = d.blocked_by join tasks t on t.id = d.task_id
       where b.status = 'cancelled' and b.parent_id is not null and t.status <> 'completed'`,
    );
    for (const { task_id: id, blocked_by: blocker } of edges)
      this.#requests.ask(`unblock ${id}`, ({ store }) =>
        store.transaction((tx) => editTask(tx, store.sources, id, { remove_blockers: [blocker] })),
      );
  }

  /** If Drover reports that it cannot merge the work with the person's, the person merges it. */
  #helpLines(): void {
    const lines = this.#world.rows<{ branch: string; pending_reason: string | null }>(
      'select branch, pending_reason from lines where pending > 0',
    );
    for (const { branch, pending_reason: reason } of lines) {
      if (reason !== null && /conflict|red|has commits|never/.test(reason))
        this.#git.mergeInto(`drover/results/${branch}`, branch);
    }
  }

  /** Follows the reason, then reports that. */
  #unblock(id: string, reason: string): void {
    const reset = /; reset (\S+), then/.exec(reason)?.[1];
    if (reset !== undefined) this.#requests.reset(reset);
    const merge = /merge (\S+) into (\S+), then/.exec(reason);
    if (merge !== null) this.#git.mergeInto(merge[1] ?? '', merge[2] ?? '');
    const picks = /; run git cherry-pick -m 1 ([0-9a-f ]+) on (\S+) \(/.exec(reason);
    if (picks !== null) this.#git.pickInto((picks[1] ?? '').split(' '), picks[2] ?? '');
    this.#requests.resolve(id);
  }

  #help({ id, status, blocked_reason: reason, parent_id, review_kind: kind }: TaskFacts): void {
    if (parent_id !== null) return;
    switch (status) {
      case 'paused':
        return this.#requests.one('unpause', id, (engine) => unpauseTask(engine, id, null));
      case 'failed':
      case 'conflict':
      case 'cancelled':
        return this.#requests.one('retry', id, (engine) => retryTask(engine, id, false));
      case 'needs_review':
        // A candidate that was refused as untested comes back tested, and has not been chosen yet.
        if (kind === 'plan' || kind === 'candidate')
          return this.#requests.one('approve', id, approve);
        if (this.#approved.has(id))
          return this.#requests.one('retry', id, (engine) => retryTask(engine, id, false));
        this.#approved.add(id);
        return this.#requests.one('approve', id, approve);
      case 'blocked':
        if (reason !== null) this.#unblock(id, reason);
        return;
      default:
        return;
    }
  }
}

/**
 * A cancelled sub-task stays out of its parent's work, and a cancelled candidate out of the choice.
 */
export function unfinishedTasks(world: World): string[] {
  const rows = world.rows<{ id: string }>(
    "select id from tasks where status <> 'completed' and ((parent_id is null and candidate_of is null) or status <> 'cancelled')",
  );
  return rows.map(({ id }) => id);
}
