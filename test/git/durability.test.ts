// New objects are found once, whichever process wrote them, and flushed before a ref names them.

import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ObjectFolders, openDurability } from '../../server/git/process/durability.ts';
import { makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: durability', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  const common = (): string => join(fixture.root, '.git');
  const commit = (name: string): void => {
    fixture.write(join(fixture.root, name), `${name}\n`);
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', name);
  };
  const objects = (): string[] =>
    fixture
      .git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)')
      .split('\n')
      .map((sha) => join(common(), 'objects', sha.slice(0, 2), sha.slice(2)));

  test('new objects are found exactly once', () => {
    const folders = new ObjectFolders(common());
    assert.deepEqual(folders.takeNew(Date.now()).toSorted(), objects().toSorted());
    for (const name of ['a', 'b', 'c']) {
      const before = new Set(objects());
      commit(name);
      const added = objects().filter((file) => !before.has(file));
      assert.deepEqual(folders.takeNew(Date.now()).toSorted(), added.toSorted());
      assert.deepEqual(folders.takeNew(Date.now()), []);
    }
  });

  test('what was there long before is not flushed again', () => {
    const old = Date.now() / 1000 - 600;
    for (const file of objects()) utimesSync(file, old, old);
    assert.deepEqual(new ObjectFolders(common()).takeNew(Date.now()), []);
    assert.deepEqual(new ObjectFolders(common()).takeNew(Date.now() + 600_000), []);
  });

  test('callers share flushes, and vanished files do no harm', async () => {
    const durability = openDurability(common());
    durability.refsMoved(['refs/heads/main', 'refs/drover/gone/x']);
    const temporary = join(common(), 'objects', '17');
    fixture.write(join(temporary, 'tmp_obj_x'), 'x');
    await Promise.all([durability.flushObjects(), durability.settle(), durability.flushObjects()]);
    await durability.settle();
  });

  test('a ref moves after a flush; sync may be called at any time', async () => {
    const repository = await fixture.open();
    commit('new');
    writeFileSync(join(fixture.root, 'untracked'), 'x');
    const sha = fixture.git('rev-parse', 'HEAD');
    valueOf(await repository.updateRef('refs/drover/land/main', sha, null, 'x'));
    await Promise.all([repository.sync(), repository.sync()]);
    assert.equal(await repository.readRef('refs/drover/land/main'), sha);
  });
});
