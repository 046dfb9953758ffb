// Drover holds the index of a checkout while that moves; its own death lets go of it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repairLate } from '../../server/git/moves/late-checkouts.ts';
import { moveHeld } from '../../server/git/moves/held-index.ts';
import type { RepositoryContext } from '../../server/git/context.ts';
import { makeBarrier } from '../e2e/support/agent-scripts.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Fixture, makeFixture, valueOf } from './fixture.ts';

suite('git: an index that is held', () => {
  let fixture: Fixture;
  let context: RepositoryContext;
  let first: string;
  let tip: string;
  setup(async () => {
    fixture = makeFixture();
    first = fixture.git('rev-parse', 'main');
    fixture.git('checkout', '-q', '--detach');
    fixture.write(join(fixture.root, 'new.txt'), 'n\n');
    fixture.git('add', 'new.txt');
    fixture.git('commit', '-qm', 'landed');
    tip = fixture.git('rev-parse', 'HEAD');
    fixture.git('checkout', '-q', 'main');
    ({ context } = valueOf(await fixture.adapter().open(fixture.root)));
  });
  teardown(() => fixture.remove());

  const lock = (): string => join(fixture.root, '.git', 'index.lock');
  const checkout = (): { readonly path: string; readonly gitDir: string } => ({
    path: fixture.root,
    gitDir: join(fixture.root, '.git'),
  });
  const move = { ref: 'refs/heads/main' };

  test('is locked when its state is asked, and let go unchanged where that is another', async () => {
    const before = readFileSync(join(fixture.root, '.git', 'index'));
    let wasLocked = false;
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, async () => {
      wasLocked = existsSync(lock());
      return Promise.resolve(false);
    });
    assert.deepEqual([end?.kind, wasLocked, existsSync(lock())], ['in use', true, false]);
    assert.deepEqual(readFileSync(join(fixture.root, '.git', 'index')), before);
    assert.equal(fixture.git('rev-parse', 'main'), first);
  });

  test('is let go unchanged where the question fails', async () => {
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, () =>
      Promise.reject(new Error('no')),
    );
    assert.deepEqual([end?.kind, existsSync(lock())], ['in use', false]);
    assert.equal(fixture.git('rev-parse', 'main'), first);
  });

  test('is left alone where someone else holds it', async () => {
    writeFileSync(lock(), '');
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, () =>
      Promise.resolve(true),
    );
    assert.deepEqual([end?.kind, readFileSync(lock(), 'utf8')], ['locked', '']);
    assert.equal(fixture.git('rev-parse', 'main'), first);
  });

  test('says what is in the way, and stays as it was', async () => {
    fixture.write(join(fixture.root, 'new.txt'), 'mine\n');
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, () =>
      Promise.resolve(true),
    );
    assert.match(end?.kind === 'refused' ? end.said : '', /new\.txt/);
    assert.equal(existsSync(lock()), false);
    assert.equal(fixture.git('status', '--porcelain'), '?? new.txt');
  });

  test('moves alone, without the branch', async () => {
    fixture.git('update-ref', 'refs/heads/main', tip);
    const end = await moveHeld(context, checkout(), { ref: null, from: first, to: tip }, () =>
      Promise.resolve(true),
    );
    assert.deepEqual([end?.kind, existsSync(lock())], ['moved', false]);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  for (const isLocked of [false, true]) {
    const when = isLocked ? ', whose branch is held in the end' : '';
    test(`is whole after a kill -9 of Drover in the middle of its move${when}`, async () => {
      const begun = join(fixture.home, 'begun');
      const door = makeBarrier(fixture.home, 'door');
      const held = join(fixture.root, '.git', 'refs', 'heads', 'main.lock');
      const script = join(fixture.home, 'slow-git');
      const hold = isLocked ? `: > '${held}';` : '';
      writeFileSync(
        script,
        `#!/bin/sh\ncase "$*" in *"merge -q --no-stat --ff-only"*) : > '${begun}'; ${door.wait}; ${hold} ;; esac\nexec git "$@"\n`,
        { mode: 0o755 },
      );
      const child = spawn(
        process.execPath,
        ['--no-warnings', join(import.meta.dirname, 'follow-child.ts'), fixture.root, tip, script],
        { stdio: 'ignore', env: fixture.environment },
      );
      const gone = once(child, 'exit');
      await eventually('the move has begun', () => existsSync(begun));
      child.kill('SIGKILL');
      await gone;
      assert.equal(existsSync(lock()), true);
      door.open();
      await eventually('the index is let go', () => !existsSync(lock()));
      door.close();
      assert.equal(fixture.git('rev-parse', 'main'), isLocked ? first : tip);
      assert.equal(fixture.git('status', '--porcelain'), '');
    });
  }

  if (process.platform === 'linux') {
    test('a branch does not wait for a command in a slot inside of its checkout', async () => {
      const repository = await fixture.open();
      writeFileSync(join(fixture.root, '.git', 'info', 'exclude'), 'slots\n');
      fixture.git('worktree', 'add', '-q', '--detach', join(fixture.root, 'slots', 'one'));
      const editor = makeBarrier(fixture.home, 'editor');
      const script = join(fixture.home, 'editor.sh');
      writeFileSync(script, `#!/bin/sh\n: > '${editor.path}.open'\n${editor.wait}\n`, {
        mode: 0o755,
      });
      const command = spawn('git', ['commit', '-q', '--allow-empty', '-m', 'slot', '-e'], {
        cwd: join(fixture.root, 'slots', 'one'),
        env: { ...fixture.environment, GIT_EDITOR: `'${script}'` },
        stdio: 'ignore',
      });
      const ended = once(command, 'exit');
      await eventually('the editor is open', () => existsSync(`${editor.path}.open`));
      const outcome = valueOf(await repository.follow('main', tip, 'fast-forward'));
      editor.open();
      await ended;
      editor.close();
      assert.equal(outcome.kind, 'followed');
      assert.equal(fixture.git('status', '--porcelain'), '');
    });
  }

  test('a reset of a person right before a repair stays', async () => {
    fixture.git('merge', '-q', '--ff-only', tip);
    // As a switch leaves it that read the branch before the move.
    fixture.git('read-tree', '--reset', '-u', first);
    const script = join(fixture.home, 'late-git');
    const unset = 'env -u GIT_DIR -u GIT_WORK_TREE -u GIT_COMMON_DIR';
    const act = `${unset} git reset -q --hard ${first}`;
    writeFileSync(
      script,
      `#!/bin/sh\ncase "$*" in *"diff-index --cached --quiet ${first}") ${act};; esac\nexec git "$@"\n`,
      { mode: 0o755 },
    );
    const late = valueOf(await fixture.adapter({ binary: script }).open(fixture.root));
    assert.equal(
      await repairLate(late.context, 'refs/heads/main', { from: first, to: tip }),
      'busy',
    );
    assert.equal(fixture.git('rev-parse', 'main'), first);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });
});
