// An export into a file that another tool shares: what is not ours stays byte for byte.

import assert from 'node:assert/strict';
import { mergeRecordLines } from '../../../server/cli/shared-file.ts';

suite('shared file', () => {
  function check(name: string, present: string, fresh: string, expected: string): void {
    test(name, () => assert.equal(mergeRecordLines(present, fresh).text, expected));
  }

  const a = '{"id":"a","title":"A","status":"open"}\n';

  check('an empty file', '', a, a);
  check('nothing has changed', a, a, a);
  check(
    'other spelling of the same data stays',
    '{ "status":"open", "title":"A","id":"a" }\n',
    a,
    '{ "status":"open", "title":"A","id":"a" }\n',
  );
  check('a new record comes at the end', a, `${a}{"id":"b"}\n`, `${a}{"id":"b"}\n`);
  check('a missing line end is added first', a.trimEnd(), '{"id":"b"}\n', `${a}{"id":"b"}\n`);
  check(
    'comments, junk, foreign records and empty lines stay',
    `# mine\n\n{broken\n${a}{"id":"z","title":"Z"}\r\n[1]\n{"no":"id"}\n`,
    '{"id":"a","title":"A","status":"closed"}\n',
    '# mine\n\n{broken\n{"id":"a","title":"A","status":"closed"}\n{"id":"z","title":"Z"}\r\n[1]\n{"no":"id"}\n',
  );
  check(
    'what only they have stays in the record',
    '{"id":"a","title":"A","notes":"theirs","comments":[1]}\n',
    '{"id":"a","title":"B"}\n',
    '{"id":"a","title":"B","notes":"theirs","comments":[1]}\n',
  );
  check(
    'a new time alone is no change',
    '{"id":"a","title":"A","updated_at":"2026-01-01T00:00:00Z"}\n',
    '{"id":"a","title":"A","updated_at":"2026-02-01T00:00:00Z"}\n',
    '{"id":"a","title":"A","updated_at":"2026-01-01T00:00:00Z"}\n',
  );
  check(
    'the two shapes are two records',
    '{"id":"a","title":"flat"}\n',
    '{"type":"bead","id":"a","timestamp":"t","data":{"title":"deep"}}\n',
    '{"id":"a","title":"flat"}\n{"type":"bead","id":"a","timestamp":"t","data":{"title":"deep"}}\n',
  );
  check(
    'inside data too, what only they have stays',
    '{"type":"bead","id":"a","data":{"title":"A","reason":"x"}}\n',
    '{"type":"bead","id":"a","data":{"title":"B"}}\n',
    '{"type":"bead","id":"a","data":{"title":"B","reason":"x"}}\n',
  );

  test('newer there: theirs is kept and listed; older there: ours is written', () => {
    const line = (title: string, year: number): string =>
      `{"id":"a","title":"${title}","updated_at":"${year}-01-01T00:00:00Z"}\n`;
    const newer = mergeRecordLines(line('theirs', 2027), line('ours', 2026));
    assert.deepEqual([newer.text, newer.newerThere], [line('theirs', 2027), ['a']]);
    const older = mergeRecordLines(line('theirs', 2025), line('ours', 2026));
    assert.deepEqual([older.text, older.newerThere, older.changed], [line('ours', 2026), [], 1]);
  });
});
