// Reading /proc/<pid>/stat, whose second field may hold anything.

import assert from 'node:assert/strict';
import { parseLinuxStat, processStartTime } from '../../../server/agents/process-list.ts';

const rest = '1 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0';

function check(text: string, expected: object | null): void {
  const listed = parseLinuxStat(5, text);
  if (expected === null) assert.equal(listed, null);
  else assert.deepEqual({ ...listed, ...expected }, listed);
}

suite('process list', () => {
  test('fields are counted from the last bracket', () => {
    check(`5 (sh) S ${rest}`, { parentPid: 1, groupId: 77, startTime: '987654', isZombie: false });
    check(`5 (a) b) R 9 (x) T ${rest}`, { isStopped: true, startTime: '987654' });
    check(`5 (sh) Z ${rest}`, { isZombie: true });
    check('5 (sh', null);
  });
  test('knows itself and nobody else', () => {
    assert.notEqual(processStartTime(process.pid), null);
    assert.equal(processStartTime(2 ** 22 + 1), null);
  });
});
