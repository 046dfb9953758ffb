// Prunes of other processes, seen by a file that they remove; and a gc that is outlasted.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PruneWatch } from '../../../server/git/files/prune-watch.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('prunes that are watched', () => {
  const folders: string[] = [];
  teardown(() => {
    for (const folder of folders.splice(0)) removeFolder(folder);
  });

  function commonDir(): string {
    const folder = mkdtempSync(join(tmpdir(), 'drover-prune-watch-'));
    folders.push(folder);
    mkdirSync(join(folder, 'objects'));
    return folder;
  }

  const objectsOf = (common: string): readonly string[] => readdirSync(join(common, 'objects'));

  /** As `git prune` does with what looks like a left file of git. */
  function prune(common: string): void {
    for (const name of objectsOf(common)) rmSync(join(common, 'objects', name));
  }

  test('nothing is watched, or written, before the first command that writes objects', () => {
    const common = commonDir();
    const watch = new PruneWatch(common);
    watch.beforeCommand(['rev-parse', 'HEAD']);
    assert.deepEqual(objectsOf(common), []);
    assert.equal(watch.count(), 0);
    assert.equal(watch.isSuspect(), false);
    watch.beforeCommand(['commit-tree', 'x']);
    assert.equal(objectsOf(common).length, 1);
    assert.equal(watch.count(), 0);
    assert.equal(watch.isSuspect(), false);
  });

  test('each prune counts once, and makes what was just written suspect', () => {
    const common = commonDir();
    const watch = new PruneWatch(common);
    watch.beforeCommand(['commit-tree', 'x']);
    for (const times of [1, 2]) {
      prune(common);
      assert.equal(watch.isSuspect(), true);
      assert.equal(watch.count(), times);
      assert.equal(watch.count(), times);
      watch.beforeCommand(['commit-tree', 'x']);
      assert.equal(watch.count(), times);
    }
  });

  test('two processes share one mark, and each sees the prune once', () => {
    const common = commonDir();
    const watches = [new PruneWatch(common), new PruneWatch(common)];
    for (const watch of watches) watch.beforeCommand(['commit-tree', 'x']);
    assert.equal(objectsOf(common).length, 1);
    prune(common);
    assert.deepEqual(
      watches.map((watch) => watch.count()),
      [1, 1],
    );
    assert.deepEqual(
      watches.map((watch) => watch.count()),
      [1, 1],
    );
  });

  test('a gc of this machine that works is waited for; another is not', async () => {
    const common = commonDir();
    const note = join(common, 'gc.pid');
    const watch = new PruneWatch(common);
    const endsAtOnce = async (): Promise<boolean> => {
      let isOver = false;
      const waiting = watch.outlastGc().then(() => (isOver = true));
      // Who does not wait has ended before the next turn of the loop.
      await new Promise((resolve) => setImmediate(resolve));
      const wasAtOnce = isOver;
      rmSync(note, { force: true });
      await waiting;
      return wasAtOnce;
    };
    assert.equal(await endsAtOnce(), true);
    for (const others of ['', 'x\n', `0 ${hostname()}`, `${process.pid} elsewhere.invalid`]) {
      writeFileSync(note, others);
      assert.equal(await endsAtOnce(), true, others);
    }
    writeFileSync(note, `${process.pid} ${hostname()}\n`);
    assert.equal(await endsAtOnce(), false);
  });
});
