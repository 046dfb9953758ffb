import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
} from '../../../server/core/format.ts';
import { noTasks, type OutcomeCounts } from '../../../server/core/plan/outcome.ts';
import { countsLine, outcomePercent } from '../../../server/core/plan/outcome-words.ts';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import { taskView } from '../../doubles/views.ts';
import { checkId, newId, subTaskId, subTaskIdInTitle } from '../../../server/core/ids.ts';
import { withCriteria, withoutCriteria } from '../../../server/core/exchange/import-record.ts';
import {
  parseDuration,
  parseSize,
  parseSqliteUrl,
} from '../../../server/core/settings/setting-values.ts';

function check<T>(read: (text: string) => T, cases: readonly (readonly [string, T])[]): void {
  for (const [text, wanted] of cases) assert.deepEqual(read(text), wanted, text);
}

suite('ids', () => {
  test("Drover's own ids are valid", () => {
    assert.equal(newId('task', new Uint8Array(5)), 'task-aaaaaaaa');
    assert.equal(newId('epic', new Uint8Array([255, 255, 255, 255, 255])), 'epic-77777777');
    assert.equal(newId('question', new Uint8Array([0, 68, 50, 20, 199])), 'q-abcdefgh');
    assert.equal(subTaskId('task-a', 3), 'task-a.3');
    assert.throws(() => newId('task', new Uint8Array(4)));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 5, maxLength: 5 }), (bytes) => {
        for (const kind of ['epic', 'task', 'question', 'run', 'hint'] as const) {
          assert.ok(checkId(newId(kind, bytes)).ok);
        }
      }),
    );
  });

  test('a valid id can be used in a branch name and a file name everywhere', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 70 }), fc.string(), (text, more) => {
        for (const id of [text, `a${more}`, `a.${more}`]) {
          if (!checkId(id).ok) continue;
          assert.match(id, /^[\w.-]{1,64}$/);
          assert.doesNotMatch(id, /^[.-]|\.\.|\.$|\.lock$/);
        }
      }),
    );
  });

  test("a sub-task's id is read from its title", () => {
    check(subTaskIdInTitle, [
      ['task-x.5 Do it', { parent: 'task-x', n: 5, title: 'Do it' }],
      ['task-123.4.1 Do it', { parent: 'task-123.4', n: 1, title: 'Do it' }],
      ['task-1.2.3.4 Do it', { parent: 'task-1.2.3', n: 4, title: 'Do it' }],
      ['task-x Do it', null],
      ['task-x.0 Do it', null],
      ['task-x.5', null],
      ['Do task-x.5 now', null],
    ]);
  });
});

suite('formats', () => {
  test('durations are read', () => {
    check(parseDuration, [
      ['90s', 90_000],
      ['60m', 3_600_000],
      ['1h30m', 5_400_000],
      ['1.5h', 5_400_000],
      ['250ms', 250],
      ['1h0m0.5s', 3_600_500],
      ['0', 0],
      ['', null],
      ['90', null],
      ['1d', null],
      ['-5s', null],
      ['1h 30m', null],
      ['s', null],
      ['1hm', null],
    ]);
  });

  test('sizes are read', () => {
    check(parseSize, [
      ['10MB', 10_485_760],
      ['512KB', 524_288],
      ['1gb', 1_073_741_824],
      ['1.5 KB', 1_536],
      ['123', 123],
      ['5B', 5],
      ['5K', null],
      ['-1', null],
      ['MB', null],
      ['99999999999999999GB', null],
    ]);
  });

  test('database addresses are read', () => {
    check(parseSqliteUrl, [
      ['sqlite:///a/b.db', '/a/b.db'],
      ['sqlite:///C:/a/b.db', 'C:/a/b.db'],
      ['sqlite:///a b/c.db', '/a b/c.db'],
      ['sqlite://a/b.db', null],
      ['sqlite:a.db', null],
      ['sqlite:///a/', null],
      ['sqlite:///a?x=1', null],
      ['file:///a', null],
    ]);
  });

  test('texts for people are formatted', () => {
    const durations: readonly [number, string][] = [
      [0, '0 s'],
      [-5, '0 s'],
      [1, '< 1 s'],
      [999, '< 1 s'],
      [12_000, '12 s'],
      [59_900, '1 min'],
      [185_000, '3 min 5 s'],
      [7_800_000, '2 h 10 min'],
      [273_600_000, '3 d 4 h'],
      [Infinity, 'unknown'],
    ];
    for (const [ms, wanted] of durations) assert.equal(formatDuration(ms), wanted);
    const sizes: readonly [number, string][] = [
      [0, '0 B'],
      [1_023, '1023 B'],
      [1_536, '1.5 KB'],
      [10_485_760, '10 MB'],
      [5e15, '4547 TB'],
    ];
    for (const [bytes, wanted] of sizes) assert.equal(formatBytes(bytes), wanted);
    const costs: readonly [number, string][] = [
      [0, '$0.00'],
      [0.00001, '< $0.01'],
      [0.0042, '< $0.01'],
      [0.01, '$0.01'],
      [1.254, '$1.25'],
    ];
    for (const [usd, wanted] of costs) assert.equal(formatCost(usd), wanted);
    assert.equal(formatCount(1, 'task'), '1 task');
    assert.equal(formatCount(2, 'entry', 'entries'), '2 entries');
  });

  test('counts and progress are computed', () => {
    const of = (counts: Partial<OutcomeCounts>): OutcomeCounts => ({ ...noTasks, ...counts });
    const line = (...statuses: readonly TaskStatus[]): string =>
      countsLine(statuses.map((status, at) => taskView({ id: `t${at}`, status })));
    assert.equal(
      line('claimed', 'in_progress', 'ready', 'completed', 'completed', 'blocked'),
      '2 running, 1 queued, 2 completed, 1 blocked, 0 failed, 0 cancelled',
    );
    assert.match(line('conflict', 'waiting', 'waiting'), /2 waiting for quota, 1 in conflict$/);
    assert.equal(outcomePercent(noTasks), 0);
    assert.equal(outcomePercent(of({ total: 3, cancelled: 3 })), 0);
    assert.equal(outcomePercent(of({ total: 12, landed: 2, queued: 1, cancelled: 9 })), 66);
    assert.equal(outcomePercent(of({ total: 2, landed: 1, done: 1 })), 99);
  });

  test('criteria are added to the description and extracted again', () => {
    const line = fc
      .string({ minLength: 1 })
      .filter((text) => /^\S.*$/.test(text.trim()) && text === text.trim());
    fc.assert(
      fc.property(fc.string(), fc.array(line, { maxLength: 3 }), (description, criteria) => {
        const text = description.replace(/[\r\n]+$/, '');
        assert.equal(withoutCriteria(withCriteria(description, criteria), criteria), text);
      }),
    );
  });
});
