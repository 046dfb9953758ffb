// Problems of a worker: the log has all of them, and each is printed only now and then.

import assert from 'node:assert/strict';
import { tellTroubles } from '../../../server/fleet/worker-troubles.ts';
import type { WorkerNote } from '../../../server/protocol/worker-notes.ts';

suite('problems of a worker', () => {
  let nowMs = 0;
  let logged: string[] = [];
  let told: WorkerNote[] = [];
  let report: (error: unknown, where: string) => void;
  setup(() => {
    nowMs = 1_000;
    logged = [];
    told = [];
    report = tellTroubles(
      (_error, where) => void logged.push(where),
      (note) => void told.push(note),
      { mask: (text) => text.replaceAll('s3cret', '[hidden]'), nowMs: () => nowMs },
    );
  });

  test('each is reported as one line without secrets, at most once a minute', () => {
    for (const atMs of [1_000, 2_000, 60_999, 61_000]) {
      nowMs = atMs;
      report(new Error('No answer\n  of s3cret'), 'beating');
    }
    report({ kind: 'stale', message: 'moved' }, 'landing');
    report('plain', 'landing');
    report(undefined, 'landing');
    assert.equal(logged.length, 7);
    assert.deepEqual(
      told.map((note) => (note.type === 'trouble' ? [note.at_ms, note.where, note.message] : [])),
      [
        [1_000, 'beating', 'No answer of [hidden]'],
        [61_000, 'beating', 'No answer of [hidden]'],
        [61_000, 'landing', 'moved'],
        [61_000, 'landing', 'plain'],
        [61_000, 'landing', 'undefined'],
      ],
    );
  });

  test('a flood of different problems appears only in the log', () => {
    for (let at = 0; at < 1_000; at += 1) report(new Error(`number ${at}`), 'work');
    assert.deepEqual([logged.length, told.length], [1_000, 100]);
    nowMs += 60_000;
    report(new Error('later'), 'work');
    assert.equal(told.length, 101);
  });
});
