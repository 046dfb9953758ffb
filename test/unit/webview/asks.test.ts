// A webview's requests: one message for each turn of the event loop; each request is answered once,
// and none is lost.

import assert from 'node:assert/strict';
import { replyTo } from '../../../extension/webviews/replies.ts';
import type { Ask, FromWebview } from '../../../webview/messages/messages.ts';
import { AskFailure, Asks } from '../../../webview/shared/asks.ts';

suite("a webview's requests", () => {
  const turnEnds = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('requests of one turn are sent as one message, and each has its own answer', async () => {
    const posted: FromWebview[] = [];
    const asks = new Asks((message) => posted.push(message));
    const ask = asks.to('backend');
    const answers = [ask('log.read', { id: 'a' }), ask('log.read', { id: 'b' })];
    await turnEnds();
    const third = asks.to('host')('hello', {});
    await turnEnds();
    const read = (number: number, id: string): Ask => {
      return { ask: number, to: 'backend', name: 'log.read', params: { id } };
    };
    assert.deepEqual(posted, [
      { type: 'asks', asks: [read(1, 'a'), read(2, 'b')] },
      { type: 'asks', asks: [{ ask: 3, to: 'host', name: 'hello', params: {} }] },
    ]);
    asks.answered([{ ask: 3, ok: true, result: 'of c' }]);
    const error = { kind: 'gone', message: 'It is gone.' };
    asks.answered([
      { ask: 2, ok: true, result: 'of b' },
      { ask: 1, ok: false, error },
    ]);
    assert.equal(await third, 'of c');
    assert.equal(await answers[1], 'of b');
    await assert.rejects(answers[0] ?? third, new AskFailure('gone', 'It is gone.'));
  });

  test('a long answer arrives compressed, and an unreadable one is refused', async () => {
    const asks = new Asks(() => {});
    const answers = [asks.to('backend')('report', {}), asks.to('backend')('report', {})];
    const result = {
      landed: Array.from({ length: 1_000 }, (_, id) => ({ id, title: `Größe ${id}` })),
    };
    const reply = replyTo({ ask: 1, name: 'report' }, result);
    assert.ok('packed' in reply && reply.packed.length < JSON.stringify(result).length / 2);
    asks.answered([reply, { ask: 2, ok: true, packed: new Uint8Array([7, 7, 7]) }]);
    await assert.rejects(answers[1] ?? Promise.resolve());
    assert.deepEqual(await answers[0], result);
  });

  test('a request that cannot be sent fails for its caller, and the next turn is sent', async () => {
    const posted: FromWebview[] = [];
    let refuses = true;
    const asks = new Asks((message) => {
      if (refuses) throw new Error('could not be cloned');
      posted.push(message);
    });
    const ask = asks.to('backend');
    await assert.rejects(ask('log.read', { id: 'a' }), /could not be cloned/);
    refuses = false;
    const answer = ask('log.read', { id: 'b' });
    await turnEnds();
    assert.equal(posted.length, 1);
    asks.answered([{ ask: 2, ok: true, result: 'of b' }]);
    assert.equal(await answer, 'of b');
  });

  test('more than a thousand concurrent requests are refused until some are answered', async () => {
    const asks = new Asks(() => {});
    const ask = asks.to('backend');
    const first = ask('status', {});
    for (let count = 1; count < 1_000; count += 1) void ask('status', {});
    await assert.rejects(ask('status', {}), /Too many requests/);
    asks.answered([{ ask: 1, ok: true, result: {} }]);
    await first;
    void ask('status', {});
  });
});
