// Changes of the board arrive along with the events: in order, and each once.

import assert from 'node:assert/strict';
import type { EventView, Notifications } from '../../../server/protocol/api.ts';
import type { BoardChanges } from '../../../server/protocol/panel-views.ts';
import { boardFeed } from '../../../server/rpc/transport/board-feed.ts';

const event = (seq: number): EventView => ({ seq }) as EventView;
const read = (after: number, seq: number): BoardChanges =>
  ({ after, seq, snapshot: null }) as BoardChanges;

suite('changes along with the feed', () => {
  let sent: Notifications['events'][] = [];
  const send = async (batch: Notifications['events']): Promise<void> => {
    sent.push(batch);
  };
  setup(() => (sent = []));

  test('each batch has the changes since the previous one, however slowly it is read', async () => {
    const asked: number[] = [];
    const gates: (() => void)[] = [];
    const ends = [6, 9];
    const readLater = async (after: number): Promise<BoardChanges> => {
      asked.push(after);
      await new Promise<void>((resolve) => gates.push(resolve));
      return read(after, ends.shift() ?? after);
    };
    const feed = boardFeed(readLater, 4, send);
    const first = feed([event(5)]);
    const covered = feed([event(6)]);
    const second = feed([event(7), event(8)]);
    while (gates.length === 0) await Promise.resolve();
    gates[0]?.();
    await Promise.all([first, covered]);
    while (gates.length === 1) await Promise.resolve();
    gates[1]?.();
    await second;
    assert.deepEqual(sent, [
      { events: [event(5)], changes: read(4, 6) },
      { events: [event(6)] },
      { events: [event(7), event(8)], changes: read(6, 9) },
    ]);
    assert.deepEqual(asked, [4, 6]);
  });

  test('changes that could not be read are not sent, and are in the next batch', async () => {
    const answers: (() => BoardChanges)[] = [
      () => {
        throw new Error('the disk is gone');
      },
      () => read(1, 3),
    ];
    const asked: number[] = [];
    const readOrFail = async (after: number): Promise<BoardChanges> => {
      asked.push(after);
      return answers.shift()!();
    };
    const feed = boardFeed(readOrFail, 1, send);
    await feed([event(2)]);
    await feed([event(3)]);
    assert.deepEqual(sent, [{ events: [event(2)] }, { events: [event(3)], changes: read(1, 3) }]);
    assert.deepEqual(asked, [1, 1]);
  });
});
