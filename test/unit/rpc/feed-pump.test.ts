// The pump passes events on in order and without a gap, and never has more frames in transit than
// allowed.

import assert from 'node:assert/strict';
import type { EventView } from '../../../server/protocol/api.ts';
import { FeedPump } from '../../../server/rpc/transport/feed.ts';
import { memoryFeed } from '../../doubles/memory-feed.ts';

/** A reader that takes one frame at a time, on command. */
function slowReader() {
  const frames: (readonly EventView[])[] = [];
  const release: (() => void)[] = [];
  return {
    frames,
    seqs: () => frames.flat().map((event) => event.seq),
    deliver: (events: readonly EventView[]) => {
      frames.push(events);
      return new Promise<void>((resolve) => release.push(resolve));
    },
    takeOne: () => release.shift()?.(),
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}

const unexpected = (error: unknown): void => assert.fail(String(error));

suite('feed pump', () => {
  test('existing and new events are delivered once, in order', async () => {
    const feed = memoryFeed();
    feed.append({}, {}, {});
    const seen: number[] = [];
    const pump = new FeedPump({
      feed,
      after: 1,
      frameMs: 1,
      deliver: async (events) => void seen.push(...events.map((event) => event.seq)),
      onFailure: unexpected,
    });
    await until(() => seen.length === 2);
    feed.append({}, {});
    await until(() => seen.length === 4);
    pump.stop();
    assert.deepEqual(seen, [2, 3, 4, 5]);
  });

  test('a reader that accepts nothing stops the reading, and nothing is missing when it continues', async () => {
    const feed = memoryFeed();
    const reader = slowReader();
    const limits = { feed, after: 0, frameMs: 1, outstandingMax: 3, batch: 10 };
    const pump = new FeedPump({ ...limits, deliver: reader.deliver, onFailure: unexpected });
    feed.append(...Array.from({ length: 100 }, () => ({})));
    await until(() => reader.frames.length === 3);
    const { reads } = feed;
    for (let more = 0; more < 50; more += 1) feed.append({});
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(reader.frames.length, 3, 'no fourth frame is under way');
    assert.equal(feed.reads, reads, 'nothing is read ahead into memory');
    while (reader.seqs().length < 150) {
      reader.takeOne();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    pump.stop();
    assert.deepEqual(
      reader.seqs(),
      Array.from({ length: 150 }, (_, at) => at + 1),
    );
  });

  test('many events in one frame are one batch', async () => {
    const feed = memoryFeed();
    const frames: number[] = [];
    const pump = new FeedPump({
      feed,
      after: 0,
      frameMs: 20,
      deliver: async (events) => void frames.push(events.length),
      onFailure: unexpected,
    });
    for (let count = 0; count < 40; count += 1) feed.append({});
    await until(() => frames.length > 0);
    pump.stop();
    assert.deepEqual(frames, [40]);
  });

  test('a failing feed ends the pump, which reports it', async () => {
    const feed = { ...memoryFeed(), read: () => Promise.reject(new Error('disk')) };
    const failed = await new Promise<unknown>((resolve) => {
      new FeedPump({ feed, after: 0, frameMs: 1, deliver: async () => {}, onFailure: resolve });
    });
    assert.match(String(failed), /disk/u);
  });

  test('nothing is delivered after stop', async () => {
    const feed = memoryFeed();
    const seen: number[] = [];
    const pump = new FeedPump({
      feed,
      after: 0,
      frameMs: 1,
      deliver: async (events) => void seen.push(events.length),
      onFailure: unexpected,
    });
    pump.stop();
    feed.append({});
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(seen, []);
  });
});
