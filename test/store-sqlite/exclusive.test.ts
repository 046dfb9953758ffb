// The lock of one process: held until it is released or the process dies in any way.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { acquireExclusive } from '../../server/store/sqlite/exclusive.ts';
import { startSqliteChild } from './child-process.ts';
import { inFolder, isRefusal } from './folder.ts';

suite('sqlite: the exclusive lock', () => {
  test('inside one process, only one holder has it at a time', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'owner.lock');
      const first = acquireExclusive(path);
      assert.equal(first?.path, path);
      assert.equal(acquireExclusive(path), null);
      first.release();
      first.release();
      const second = acquireExclusive(path);
      assert.notEqual(second, null);
      assert.equal(acquireExclusive(path), null);
      second?.release();
      assert.deepEqual(readdirSync(folder), ['owner.lock']);
    }));

  test('it is refused to another process while it is held', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'owner.lock');
      const lock = acquireExclusive(path);
      const child = startSqliteChild({ act: 'lock', path });
      assert.equal(await child.nextLine(), 'refused');
      child.goOn();
      await child.ended;
      lock?.release();
    }));

  for (const end of ['lets go', 'is killed'] as const) {
    test(`it is free when its owner ${end}`, () =>
      inFolder(async (folder) => {
        const path = join(folder, 'owner.lock');
        const child = startSqliteChild({ act: 'lock', path });
        assert.equal(await child.nextLine(), 'locked');
        assert.equal(acquireExclusive(path), null);
        if (end === 'is killed') await child.kill();
        else child.goOn();
        await child.ended;
        const lock = acquireExclusive(path);
        assert.notEqual(lock, null);
        lock?.release();
      }));
  }

  test('a missing folder is a refusal', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'none', 'owner.lock');
      assert.throws(() => acquireExclusive(path), isRefusal('database', path));
    }));
});
