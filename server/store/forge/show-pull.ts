// The pull request of an epic in the shape that clients see.

import type { PullView } from '../../protocol/run-views.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import { pullOfEpic } from './pull-requests.ts';
import { stackLevels } from './stack-levels.ts';
import { epicOrRefuse } from '../rows/find-rows.ts';

/** Returns null if the epic never had one. */
export async function showPull(db: Db, epicId: string): Promise<PullView | null> {
  return readAtOneMoment(db, async (at) => {
    await epicOrRefuse(at, epicId);
    const { levels, pulls } = await stackLevels(at, epicId);
    const stack = levels.flatMap(({ branch }) => pulls.get(branch) ?? []);
    const newest = await pullOfEpic(at, epicId);
    const isStack = stack.some(({ branch }) => branch === newest?.branch);
    // Of a stack, the level that can be merged.
    const next = isStack ? stack.find(({ state }) => state === 'open') : undefined;
    const pull = next ?? newest;
    if (pull === null) return null;
    const shown = isStack ? stack : [pull];
    const keys = shown.map((row) => row.native_id);
    const facts = await at
      .selectFrom('forge_facts')
      .selectAll()
      .where('native_id', 'in', keys)
      .where('unread', 'is not', null)
      .execute();
    const given = await at
      .selectFrom('forge_reactions')
      .selectAll()
      .where('native_id', 'in', keys)
      .orderBy('at_ms')
      .execute();
    const unsent = await at
      .selectFrom('forge_outbox')
      .selectAll()
      .where('epic_id', '=', epicId)
      .where('state', '=', 'pending')
      .orderBy('position')
      .execute();
    return {
      epic_id: epicId,
      number: pull.number,
      url: pull.url,
      state: pull.state,
      branch: pull.branch,
      base: pull.base,
      head: pull.head_sha,
      note: pull.note,
      unread: facts.map(({ fact, unread }) => ({ fact, why: unread ?? '' })),
      given: given.map(({ subject, task_id: task, at_ms: atMs }) => {
        return { about: subject, task, at: Math.floor(atMs / 1000) };
      }),
      stack: !isStack
        ? []
        : stack.map(({ number, url, state, branch, base, note }) => {
            return { number, url, state, branch, base, note };
          }),
      unsent: unsent.map(({ kind, answer }) => ({ kind, answer })),
    };
  });
}
