// Formats the pull request of an epic for clients.

import type { ReviewThread } from '../../core/forge/pull-facts.ts';
import { readable } from '../../core/forge/issue-texts.ts';
import type { PersonReply } from '../../core/forge/pull-replies.ts';
import { Refusal } from '../../core/failure.ts';
import type { PullThreadView, PullView } from '../../protocol/run-views.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import { type OutboxRow, personReply } from './outbox.ts';
import { type FactRow, pullOfEpic, type PullRow } from './pull-requests.ts';
import { switchesOfPull } from './pull-switches.ts';
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
    // For a stack, this is the level that can be merged.
    const next = isStack ? stack.find(({ state }) => state === 'open') : undefined;
    const pull = next ?? newest;
    if (pull === null) return null;
    const shown = isStack ? stack : [pull];
    const keys = shown.map((row) => row.native_id);
    const facts = await at
      .selectFrom('forge_facts')
      .selectAll()
      .where('native_id', 'in', keys)
      .execute();
    const given = await at
      .selectFrom('forge_reactions')
      .selectAll()
      .where('native_id', 'in', keys)
      .orderBy('at_ms')
      .execute();
    const sent = await at
      .selectFrom('forge_outbox')
      .selectAll()
      .where('epic_id', '=', epicId)
      .orderBy('position')
      .orderBy('created_at_ms')
      .execute();
    const unsent = sent.filter(({ state }) => state === 'pending');
    return {
      epic_id: epicId,
      number: pull.number,
      url: pull.url,
      state: pull.state,
      branch: pull.branch,
      base: pull.base,
      head: pull.head_sha,
      note: pull.note,
      unread: facts.flatMap(({ fact, unread }) => (unread === null ? [] : [{ fact, why: unread }])),
      given: given.map(({ subject, task_id: task, at_ms: atMs }) => {
        return { about: subject, task, at: Math.floor(atMs / 1000) };
      }),
      stack: !isStack
        ? []
        : stack.map(({ number, url, state, branch, base, note }) => {
            return { number, url, state, branch, base, note };
          }),
      unsent: unsent.map(({ kind, answer }) => ({ kind, answer })),
      switches: await switchesOfPull(at, pull),
      threads: threadViews(shown, facts, sent),
    };
  });
}

export async function pullOrRefuse(db: Db, epicId: string): Promise<PullView> {
  const pull = await showPull(db, epicId);
  if (pull === null) throw new Refusal('not_found', `${epicId} has no pull request.`);
  return pull;
}

function threadViews(
  pulls: readonly PullRow[],
  facts: readonly FactRow[],
  sent: readonly OutboxRow[],
): readonly PullThreadView[] {
  const replies = sent
    .filter(({ kind, state }) => kind === personReply && state !== 'done')
    .map(({ request, state, answer }) => {
      const { threadId, text } = JSON.parse(request) as PersonReply;
      return { threadId, text, error: state === 'pending' ? null : (answer ?? '') };
    });
  const found = pulls.flatMap(({ native_id: id, url }) => {
    const fact = facts.find((one) => one.native_id === id && one.fact === 'threads');
    const threads = JSON.parse(fact?.value ?? '[]') as readonly ReviewThread[];
    return threads.map((thread) => ({ url, thread }));
  });
  return found.map(({ url, thread }) => ({
    id: thread.id,
    kind: thread.kind,
    is_open: thread.isOpen,
    path: thread.path,
    line: thread.line,
    // Other URLs are not offered, whatever the forge answers.
    url: thread.url?.startsWith(`${url}#`) === true ? thread.url : url,
    comments: thread.comments.map(({ author, body, atMs }) => {
      // Text of others: clients never use it as HTML.
      return { author, text: readable(body), at: Math.floor(atMs / 1000) };
    }),
    replies: replies
      .filter(({ threadId }) => threadId === thread.id)
      .map(({ text, error }) => ({ text, error })),
  }));
}
