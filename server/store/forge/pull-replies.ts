// Stores replies of people to threads of pull requests until they are sent.

import { Refusal } from '../../core/failure.ts';
import type { ReviewThread } from '../../core/forge/pull-facts.ts';
import { type PersonReply, replyCharsMax } from '../../core/forge/pull-replies.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { epicOrRefuse } from '../rows/find-rows.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import { addRequest, personReply } from './outbox.ts';
import { pullFact, type PullRow, pullsOfEpic } from './pull-requests.ts';

/** Fails if the epic's pull request has no such thread, or the thread does not accept replies. */
export async function planReply(
  tx: Tx,
  sources: StoreSources,
  epicId: string,
  { thread: threadId, text }: { readonly thread: string; readonly text: string },
): Promise<void> {
  await epicOrRefuse(tx, epicId);
  const pull = await pullOfThread(tx, epicId, threadId);
  if (pull === null) {
    const remedy = `"drover pr ${epicId}" lists its threads.`;
    throw new Refusal('not_found', `The pull request has no thread "${threadId}". ${remedy}`);
  }
  const words = text.trim();
  if (words === '' || words.length > replyCharsMax) {
    const size = `between 1 and ${replyCharsMax} characters`;
    throw new Refusal('bad_request', `A reply on a thread must have ${size}.`);
  }
  const { native_id: nativeId, number } = pull;
  const reply: PersonReply = { id: sources.uuid(), nativeId, number, threadId, text: words };
  const key = `${epicId}/${personReply}/${reply.id}`;
  const row = { key, epicId, position: 0, kind: personReply, request: reply };
  await addRequest(tx, row, sources.clock.now());
  const data = { number, thread: threadId };
  await appendEvent(tx, sources, { type: 'epic.pull_request_replied', epicId, data });
}

async function pullOfThread(db: Reads, epicId: string, threadId: string): Promise<PullRow | null> {
  for (const pull of await pullsOfEpic(db, epicId)) {
    const threads = await pullFact<readonly ReviewThread[]>(db, pull, 'threads');
    if (threads?.some(({ id, kind }) => id === threadId && kind === 'thread') === true) return pull;
  }
  return null;
}
