// The board follows the events: in frames, without a gap, and never for a connection that has
// ended.

import assert from 'node:assert/strict';
import { BoardStore, type BoardSource } from '../../../server/protocol/board-store.ts';
import type { BoardChanges } from '../../../server/protocol/panel-views.ts';
import type { StatusSnapshot } from '../../../server/protocol/views.ts';
import { snapshotOf, taskView } from '../../doubles/views.ts';

function board(seq: number, title = 'one'): StatusSnapshot {
  return { ...snapshotOf([taskView({ id: 'task-1', title })]), seq };
}

function changes(after: number, seq: number, title: string): BoardChanges {
  const { counts, progress, run, target, stuck, questions, holds } = board(seq);
  const tasks = [taskView({ id: 'task-1', title })];
  const rest = { counts, progress, run, target, stuck, questions, holds };
  return { after, seq, tasks, removed_tasks: [], epics: null, snapshot: null, ...rest };
}

class Recorder {
  readonly asked: string[] = [];
  readonly heard: string[] = [];
  readonly frames: (() => void)[] = [];
  answers: BoardChanges[] = [];
  snapshots: StatusSnapshot[] = [];
  readonly store = new BoardStore(
    {
      onChange: ({ kind, board: { seq, tasks } }) =>
        this.heard.push(kind === 'board' ? `board ${seq}` : `changes ${seq} ${tasks[0]?.title}`),
      onFailure: (error) => this.heard.push(`failure ${String(error)}`),
    },
    { wait: () => new Promise((resolve) => this.frames.push(resolve)) },
  );
  readonly source: BoardSource = {
    snapshot: async () => {
      this.asked.push('snapshot');
      const next = this.snapshots.shift();
      if (next === undefined) throw new Error('no snapshot is left');
      return next;
    },
    changes: async (after) => {
      this.asked.push(`changes ${after}`);
      const next = this.answers.shift();
      if (next === undefined) throw new Error('no answer is left');
      return next;
    },
  };

  async frame(): Promise<void> {
    await settle();
    this.frames.shift()?.();
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
}

suite('extension board store', () => {
  test('it follows the feed with one request for each frame', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    recorder.answers = [changes(5, 7, 'two'), changes(7, 20, 'three')];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(6);
    recorder.store.reach(7);
    await settle();
    recorder.store.reach(12);
    recorder.store.reach(20);
    await recorder.frame();
    await recorder.frame();
    assert.deepEqual(recorder.asked, ['snapshot', 'changes 5', 'changes 7']);
    assert.deepEqual(recorder.heard, ['board 5', 'changes 7 two', 'changes 20 three']);
  });

  test('it does not request rows that it already has', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(5);
    await recorder.frame();
    assert.deepEqual(recorder.asked, ['snapshot']);
  });

  test('it reads everything again if changes leave a gap', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5), board(30, 'all new')];
    recorder.answers = [changes(20, 30, 'too late')];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(30);
    await recorder.frame();
    assert.deepEqual(recorder.heard, ['board 5', 'board 30']);
    assert.equal(recorder.store.board?.tasks[0]?.title, 'all new');
  });

  test('it does not request endlessly when the board is behind its feed', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    recorder.answers = [changes(5, 5, 'same')];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(9);
    await recorder.frame();
    await recorder.frame();
    assert.deepEqual(recorder.asked, ['snapshot', 'changes 5']);
  });

  test('it requests nothing if changes arrive with the events', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(6, changes(5, 7, 'two'));
    recorder.store.reach(7);
    recorder.store.reach(8, changes(7, 8, 'three'));
    recorder.store.reach(8, changes(7, 8, 'three'));
    await recorder.frame();
    assert.deepEqual(recorder.asked, ['snapshot']);
    assert.deepEqual(recorder.heard, ['board 5', 'changes 7 two', 'changes 8 three']);
  });

  test('it requests the board if arriving changes leave a gap, or a request is pending', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    recorder.answers = [changes(5, 9, 'two'), changes(9, 12, 'three')];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(9, changes(7, 9, 'too late'));
    recorder.store.reach(12, changes(9, 12, 'while it asks'));
    await recorder.frame();
    await recorder.frame();
    assert.deepEqual(recorder.asked, ['snapshot', 'changes 5', 'changes 9']);
    assert.deepEqual(recorder.heard, ['board 5', 'changes 9 two', 'changes 12 three']);
  });

  test('a push counts even while a request is pending, fails, or is never answered', async () => {
    for (const answer of ['fails', 'never comes'] as const) {
      const recorder = new Recorder();
      recorder.snapshots = [board(5)];
      await recorder.store.begin({
        ...recorder.source,
        changes: () =>
          answer === 'fails' ? Promise.reject(new Error('busy')) : new Promise(() => {}),
      });
      recorder.store.reach(6);
      recorder.store.reach(7, changes(5, 7, 'two'));
      await settle();
      assert.equal(recorder.store.board?.seq, 7, answer);
      await recorder.frame();
      recorder.store.reach(8, changes(7, 8, 'three'));
      assert.equal(recorder.store.board?.seq, 8, answer);
    }
  });

  test('a failed request is repeated automatically', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(7);
    await settle();
    recorder.answers = [changes(5, 7, 'again')];
    await recorder.frame();
    assert.equal(recorder.store.board?.seq, 7);
  });

  test('a new connection sends its own request, whatever the previous one still waits for', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5), board(6)];
    await recorder.store.begin({ ...recorder.source, changes: () => new Promise(() => {}) });
    recorder.store.reach(6);
    recorder.store.end();
    await recorder.store.begin(recorder.source);
    recorder.answers = [changes(6, 9, 'new')];
    recorder.store.reach(9);
    await recorder.frame();
    assert.equal(recorder.store.board?.seq, 9);
  });

  test('pushes in the pause after a request cause no request', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    recorder.answers = [changes(5, 6, 'asked')];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(6);
    await settle();
    for (let seq = 7; seq < 50; seq += 1) recorder.store.reach(seq, changes(seq - 1, seq, 'told'));
    await recorder.frame();
    assert.deepEqual(recorder.asked, ['snapshot', 'changes 5']);
    assert.equal(recorder.store.board?.seq, 49);
  });

  test('it drops answers of a closed connection, and keeps showing the last board', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    recorder.answers = [changes(5, 6, 'late')];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(6);
    recorder.store.end();
    await recorder.frame();
    assert.deepEqual(recorder.heard, ['board 5']);
    assert.equal(recorder.store.board?.seq, 5);
  });

  test('it reports a failure once and continues at the next event', async () => {
    const recorder = new Recorder();
    recorder.snapshots = [board(5)];
    await recorder.store.begin(recorder.source);
    recorder.store.reach(6);
    await settle();
    recorder.answers = [changes(5, 7, 'again')];
    recorder.store.reach(7);
    await recorder.frame();
    assert.deepEqual(recorder.heard, [
      'board 5',
      'failure Error: no answer is left',
      'changes 7 again',
    ]);
  });
});
