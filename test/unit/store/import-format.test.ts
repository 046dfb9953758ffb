// The format of an imported file is detected by the first records that have a known form.

import assert from 'node:assert/strict';
import { sniffFormat, type ImportFormat } from '../../../server/store/exchange/import-format.ts';

const issue = '{"id":"bd-1","title":"A","status":"open","issue_type":"task"}';
const task = '{"type":"task","id":"T-1","title":"A"}';
const bead = '{"type":"bead","id":"T-1","data":{"title":"A"}}';

function check(expected: ImportFormat, lines: readonly string[], file = 'plan.jsonl'): void {
  assert.equal(sniffFormat({ text: lines.join('\n'), file }), expected, lines[0]);
}

suite('the format of an import', () => {
  test('lines that fit any format before the first record do not determine the format', () => {
    check('beads', ['{"_type":"header","version":"1.0","count":1}', issue]);
    check('beads', ['{"schema":"beads/1","exported_at":"2026-01-01T00:00:00Z"}', issue]);
    check('beads', ['{"_type":"memory","key":"k","value":"v"}', '{"_type":"x"}', issue]);
    check('beads', ['{"type":"header","format":"beads"}', bead]);
    check('beads', ['Exported by a tool', '[]', issue]);
    check('jsonl', ['{"generator":"a tool"}', task]);
  });
  test('the first record with a distinct format determines it', () => {
    check('beads', [issue, task]);
    check('jsonl', [task, issue]);
    check('session', ['{"version":"1.0","tasks":[]}']);
    check('session', ['{', '  "version": "1.0"', '}']);
    check('session', ['{"a":1}'], 'plan.drover');
  });
  test('a file without any record is JSONL, and its messages name each line', () => {
    check('jsonl', []);
    check('jsonl', ['nothing', '{"a":1}']);
  });
});
