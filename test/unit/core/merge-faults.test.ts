// A merge is complete only if it decides each conflict.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lineChanges } from '../../../server/core/work/line-changes.ts';
import {
  countChangedLines,
  countMarked,
  mergeFault,
} from '../../../server/core/work/merge-faults.ts';

const oneLine = { base: 'nobody\n', landed: 'first\n', task: 'second\n' };
const undecided = { kind: 'undecided', undecided: 1, conflicts: 1 };

suite('merge faults', () => {
  test('only complete conflicts count as marked', () => {
    const marked = '<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n';
    assert.equal(countMarked(`x\n${marked}y\n${marked}`), 2);
    assert.equal(countMarked(marked.replaceAll('\n', '\r\n')), 1);
    assert.equal(countMarked(marked.replaceAll(/^/gmu, '  ')), 0, 'quoted in a text');
    assert.equal(countMarked('Title\n=======\n>>>>>>> b\n'), 0);
    assert.equal(countMarked('<<<<<<< a\n'.repeat(200_000)), 0);
  });

  test('a result that equals the base resolves nothing', () => {
    assert.deepEqual(mergeFault(oneLine, 'nobody\n'), undecided);
    assert.deepEqual(mergeFault(oneLine, 'nobody'), undecided);
    assert.deepEqual(mergeFault(oneLine, 'nobody\r\n'), undecided);
  });

  test('either side, both of them, and other text resolve a conflict', () => {
    for (const result of ['first\n', 'second\n', 'first\nsecond\n', 'third\n', ''])
      assert.equal(mergeFault(oneLine, result), null, result);
  });

  test('each conflict counts separately, and changes of only one side are not conflicts', () => {
    const sides = {
      base: 'a\nb\nc\nd\ne\nf\ng\n',
      landed: 'A1\nb\nc\nD\ne\nf\nG1\n',
      task: 'A2\nb\nc\nd\ne\nf\nG2\nh\n',
    };
    assert.deepEqual(mergeFault(sides, 'a\nb\nc\nD\ne\nf\ng\n'), {
      kind: 'undecided',
      undecided: 2,
      conflicts: 2,
    });
    assert.deepEqual(mergeFault(sides, 'A1\nb\nc\nD\ne\nf\ng\n'), {
      kind: 'undecided',
      undecided: 1,
      conflicts: 2,
    });
    assert.equal(mergeFault(sides, 'A1\nb\nc\nD\ne\nf\nG1\nG2\nh\n'), null);
    assert.equal(mergeFault(sides, 'A1\nb\nc\nd\ne\nf\nG1\n'), null, 'd is not in conflict');
  });

  test('lines that both sides add at the same place are a separate conflict', () => {
    const sides = { base: 'a\nz\n', landed: 'a\none\nz\n', task: 'a\ntwo\nz\n' };
    assert.deepEqual(mergeFault(sides, 'a\nz\n'), undecided);
    assert.deepEqual(mergeFault(sides, 'a\nz\nmore\n'), undecided);
    assert.equal(mergeFault(sides, 'a\none\ntwo\nz\n'), null);
  });

  test('conflict markers are never a result, unless a side has them', () => {
    const marked = '<<<<<<< HEAD\nfirst\n=======\nsecond\n>>>>>>> task\n';
    assert.deepEqual(mergeFault(oneLine, marked), { kind: 'marks' });
    assert.equal(mergeFault({ ...oneLine, landed: marked }, marked), null);
  });

  test('a file that one side removed and a file that both sides added are handled', () => {
    const removed = { base: 'old\n', landed: null, task: 'new\n' };
    assert.deepEqual(mergeFault(removed, 'old\n'), undecided);
    assert.equal(mergeFault(removed, null), null);
    assert.equal(mergeFault(removed, 'new\n'), null);
    const added = { base: null, landed: 'one\n', task: 'two\n' };
    assert.deepEqual(mergeFault(added, null), undecided);
    assert.deepEqual(mergeFault(added, ''), undecided);
    assert.equal(mergeFault(added, 'one\ntwo\n'), null);
  });

  test('each side resolves a conflict and the base does not, whatever the lines are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '}'), { maxLength: 9 });
    const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
    fc.assert(
      fc.property(text, text, text, (base, landed, task) => {
        const sides = { base: joined(base), landed: joined(landed), task: joined(task) };
        assert.equal(mergeFault(sides, sides.landed), null);
        assert.equal(mergeFault(sides, sides.task), null);
        const fault = mergeFault(sides, sides.base);
        const same =
          [sides.landed, sides.task].includes(sides.base) || landed.join() === task.join();
        if (same) assert.equal(fault, null);
      }),
    );
  });

  test('changed lines turn the old text into the new one, and never touch each other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(text, text, (old, now) => {
        const changes = lineChanges(old, now);
        const built: string[] = [];
        let copied = 0;
        for (const { from, to, newFrom, newTo } of changes) {
          assert.ok(from > copied || copied === 0, 'a shared line lies between two changes');
          built.push(...old.slice(copied, from), ...now.slice(newFrom, newTo));
          copied = to;
        }
        assert.deepEqual([...built, ...old.slice(copied)], now);
      }),
    );
  });

  test('very different texts are one change', () => {
    const old = Array.from({ length: 3_000 }, (_, at) => `old ${at}`);
    const now = Array.from({ length: 3_000 }, (_, at) => `new ${at}`);
    assert.deepEqual(lineChanges(['same', ...old], ['same', ...now]), [
      { from: 1, to: 3_001, newFrom: 1, newTo: 3_001 },
    ]);
    assert.deepEqual(countChangedLines('a\nb\n', 'a\nc\nd\n'), { added: 2, removed: 1 });
    assert.deepEqual(countChangedLines('a\n', null), { added: 0, removed: 1 });
  });
});
