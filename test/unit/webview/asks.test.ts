// What a webview asks: one message for a turn, each answered once, none forgotten.

import assert from 'node:assert/strict';
import type { Ask, FromWebview } from '../../../webview/messages/messages.ts';
import { AskFailure, Asks } from '../../../webview/shared/asks.ts';

suite('asks of a webview', () => {
  const read = (id: string) => (ask: number) => {
    return { ask, to: 'backend', name: 'log.read', params: { id } } satisfies Ask;
  };
  const turnEnds = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('of one turn go as one message, and each has its own answer', async () => {
    const posted: FromWebview[] = [];
    const asks = new Asks((message) => posted.push(message));
    const answers = [asks.ask(read('a')), asks.ask(read('b'))];
    await turnEnds();
    const third = asks.ask(read('c'));
    await turnEnds();
    assert.deepEqual(
      posted.map((message) => message.type === 'asks' && message.asks.map(({ ask }) => ask)),
      [[1, 2], [3]],
    );
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

  test('what cannot be sent is told to whoever asked, and the next turn is sent', async () => {
    const posted: FromWebview[] = [];
    let refuses = true;
    const asks = new Asks((message) => {
      if (refuses) throw new Error('could not be cloned');
      posted.push(message);
    });
    await assert.rejects(asks.ask(read('a')), /could not be cloned/);
    refuses = false;
    const answer = asks.ask(read('b'));
    await turnEnds();
    assert.equal(posted.length, 1);
    asks.answered([{ ask: 2, ok: true, result: 'of b' }]);
    assert.equal(await answer, 'of b');
  });

  test('more than a thousand at once are refused, until some are answered', async () => {
    const asks = new Asks(() => {});
    const first = asks.ask(read('a'));
    for (let count = 1; count < 1_000; count += 1) void asks.ask(read('a'));
    await assert.rejects(asks.ask(read('a')), /Too many requests/);
    asks.answered([{ ask: 1, ok: true, result: {} }]);
    await first;
    void asks.ask(read('a'));
  });
});
