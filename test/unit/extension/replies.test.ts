// Replies to several requests in one message.

import assert from 'node:assert/strict';
import { answerTogether, replyTo } from '../../../extension/webviews/replies.ts';
import type { Reply } from '../../../webview/messages/messages.ts';

suite('replies to the requests of one batch', () => {
  const reply = (ask: number): Reply => ({ ask, ok: true, result: {} });

  test('a single request is answered separately', async () => {
    const replies = await new Promise<readonly Reply[]>((post) => {
      answerTogether([Promise.resolve(reply(1))], post);
    });
    assert.deepEqual(replies, [reply(1)]);
  });

  test('ready replies are sent together, a late one separately, and no request is answered twice', async () => {
    const late = Promise.withResolvers<Reply>();
    const posted: (readonly Reply[])[] = [];
    const { promise: first, resolve: isFirst } = Promise.withResolvers<void>();
    const { promise: second, resolve: isSecond } = Promise.withResolvers<void>();
    const answers = [Promise.resolve(reply(1)), late.promise, Promise.resolve(reply(3))];
    answerTogether([...answers, Promise.resolve(null)], (replies) => {
      posted.push(replies);
      (posted.length === 1 ? isFirst : isSecond)();
    });
    await first;
    assert.deepEqual(posted, [[reply(1), reply(3)]]);
    late.resolve(reply(2));
    await second;
    assert.deepEqual(posted[1], [reply(2)]);
  });

  test('if no request waits, nothing is posted', async () => {
    const posted: (readonly Reply[])[] = [];
    const nobody = Promise.resolve(null);
    answerTogether([nobody], (replies) => posted.push(replies));
    await nobody;
    assert.deepEqual(posted, []);
  });

  test('only a long list of objects is compressed', () => {
    const result = { text: 'a'.repeat(100_000) };
    assert.deepEqual(replyTo({ ask: 1, name: 'log.read' }, result), { ask: 1, ok: true, result });
    assert.deepEqual(replyTo({ ask: 1, name: 'report' }, {}), { ask: 1, ok: true, result: {} });
    assert.ok('packed' in replyTo({ ask: 1, name: 'report' }, result));
  });
});
