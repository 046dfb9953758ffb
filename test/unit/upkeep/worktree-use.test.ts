import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { besidesSlots, WorktreeUse } from '../../../server/upkeep/worktree-use.ts';
import { removeFolder } from '../../remove-folder.ts';

const mb = 1024 * 1024;

suite('the size of the worktrees', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-pool-'));
  });
  teardown(() => {
    removeFolder(folder);
  });

  const grow = (name: string, megabytes: number): void => {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, `file-${megabytes}`), Buffer.alloc(megabytes * mb, 1));
  };
  const use = (): WorktreeUse =>
    new WorktreeUse({ folder: () => folder, slots: async () => [], nowMs: () => 0 });
  const inMb = async (of: WorktreeUse): Promise<number> => Math.round((await of.bytes()) / mb);

  test('the first answer is complete, and a deleted folder no longer counts', async () => {
    grow('slot-1', 1);
    grow('slot-2', 2);
    const pool = use();
    assert.equal(await inMb(pool), 3);
    removeFolder(join(folder, 'slot-2'));
    assert.equal(await inMb(pool), 1);
  });

  test('a missing folder takes no space', async () => {
    removeFolder(folder);
    assert.equal(await inMb(use()), 0);
  });

  test('files beside the slots are counted', async () => {
    for (const name of ['slot-1', '.drover-setups']) grow(name, 1);
    const slots = [{ path: join(folder, 'slot-1') }, { path: '/elsewhere/slot-2' }];
    assert.deepEqual(await besidesSlots(folder, slots), [join(folder, '.drover-setups')]);
  });
});
