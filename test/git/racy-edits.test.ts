// Git detects an edit of the same size, made in the second in which it last wrote the index, only
// because the index is not newer than the file. No operation of Drover may make git miss it.

import assert from 'node:assert/strict';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { landedOn, makeFixture, startTask, valueOf, type Fixture, type Task } from './fixture.ts';

const edited = 'one\nTWO\nthree\n';

suite('git: an edit in the second in which the index was written', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  setup(async () => {
    fixture = makeFixture();
    // Git then compares only the times that a test can set.
    fixture.git('config', 'core.trustctime', 'false');
    repository = await fixture.open();
  });
  teardown(() => fixture.remove());

  const indexIn = (folder: string): string =>
    fixture.gitIn(folder, 'rev-parse', '--path-format=absolute', '--git-path', 'index');

  /** In the past, so that a copy made by the test's subject has a later time. */
  const edit = (folder: string): void => {
    const file = join(folder, 'README.md');
    const second = Math.floor(Date.now() / 1000) - 60;
    utimesSync(file, second, second);
    fixture.gitIn(folder, 'update-index', '-q', '--refresh');
    const { size } = statSync(file);
    utimesSync(indexIn(folder), second, second);
    writeFileSync(file, edited);
    utimesSync(file, second, second);
    assert.equal(statSync(file).size, size);
  };

  const isShown = (folder: string): void => {
    assert.match(fixture.gitIn(folder, 'status', '--porcelain'), /^ ?M README\.md$/m);
    assert.match(fixture.gitIn(folder, 'diff'), /^\+TWO$/m);
  };

  const main = (): string => fixture.git('rev-parse', 'main');
  const land = (files: Readonly<Record<string, string>>): Promise<string> =>
    landedOn(fixture, repository, main(), files);

  for (const files of [{ 'new.txt': 'n\n' }, { 'src/b.txt': 'landed\n' }]) {
    test(`it is shown after a landing of ${Object.keys(files).join()}`, async () => {
      const tip = await land(files);
      edit(fixture.root);
      const end = valueOf(await repository.follow('main', tip, 'fast-forward'));
      assert.equal(end.kind, 'followed');
      isShown(fixture.root);
    });
  }

  test('it is shown after two landings', async () => {
    edit(fixture.root);
    for (const name of ['one.txt', 'two.txt']) {
      const tip = await land({ [name]: 'n\n' });
      assert.equal(valueOf(await repository.follow('main', tip, 'fast-forward')).kind, 'followed');
    }
    isShown(fixture.root);
  });

  test('it is not overwritten by a landing of the same file', async () => {
    const tip = await land({ 'README.md': 'landed\n' });
    edit(fixture.root);
    const end = valueOf(await repository.follow('main', tip, 'fast-forward'));
    assert.equal(end.kind, 'pending');
    isShown(fixture.root);
  });

  test("it is shown after a landing in the user's linked worktree", async () => {
    const folder = join(fixture.home, 'linked');
    fixture.git('worktree', 'add', '-q', '-b', 'side', folder);
    const tip = await landedOn(fixture, repository, main(), { 'new.txt': 'n\n' });
    edit(folder);
    assert.equal(valueOf(await repository.follow('side', tip, 'fast-forward')).kind, 'followed');
    isShown(folder);
  });

  suite('in a slot', () => {
    let task: Task;
    setup(async () => {
      task = await startTask(fixture, repository, 's0', 'task-1');
    });

    const request = () =>
      ({ path: task.path, label: 'task-1/1', author: 'agent', base: task.base }) as const;

    for (const reason of ['interval', 'failed', 'death'] as const) {
      test(`it is in each snapshot (${reason}), and shown after it`, async () => {
        edit(task.path);
        for (let time = 1; time <= 3; time += 1) {
          const made = valueOf(await repository.snapshot({ ...request(), reason }));
          assert.ok(made !== null);
          assert.equal(`${fixture.git('show', `${made.commit}:README.md`)}\n`, edited);
          isShown(task.path);
        }
      });
    }

    test('it is in a snapshot that follows snapshots of other files', async () => {
      for (const name of ['one.txt', 'two.txt', 'three.txt']) {
        fixture.write(join(task.path, name), 'n\n');
        valueOf(await repository.snapshot({ ...request(), reason: 'interval' }));
      }
      edit(task.path);
      const made = valueOf(await repository.snapshot({ ...request(), reason: 'interval' }));
      assert.equal(`${fixture.git('show', `${made?.commit ?? ''}:README.md`)}\n`, edited);
      isShown(task.path);
    });

    test('it is shown after a snapshot was restored beside it', async () => {
      fixture.write(join(task.path, 'new.txt'), 'n\n');
      const made = valueOf(await repository.snapshot({ ...request(), reason: 'failed' }));
      const next = await startTask(fixture, repository, 's1', 'task-2');
      valueOf(await repository.restore({ path: next.path, commit: made?.commit ?? '' }));
      edit(next.path);
      isShown(next.path);
    });

    test('it is not overwritten by a restore', async () => {
      fixture.write(join(task.path, 'README.md'), 'kept\n');
      const made = valueOf(await repository.snapshot({ ...request(), reason: 'failed' }));
      const next = await startTask(fixture, repository, 's1', 'task-2');
      edit(next.path);
      const restored = await repository.restore({
        path: next.path,
        commit: made?.commit ?? '',
      });
      assert.deepEqual(valueOf(restored), { kind: 'occupied' });
      isShown(next.path);
    });

    test('it is kept when the next task takes the slot', async () => {
      edit(task.path);
      await startTask(fixture, repository, 's0', 'task-2');
      const kept = fixture.git('rev-parse', 'refs/drover/work/task-1/1');
      assert.equal(`${fixture.git('show', `${kept}:README.md`)}\n`, edited);
      edit(task.path);
      isShown(task.path);
    });
  });
});
