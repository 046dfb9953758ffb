// One function moves branches: never under a worktree that has them checked out, under any name,
// and never over a value that another process has written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { GitRepository } from '../../server/git/port.ts';
import { repairLate } from '../../server/git/moves/late-checkouts.ts';
import { makeBarrier } from '../e2e/support/agent-scripts.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { kindOf, makeFixture, valueOf, type Fixture } from './fixture.ts';

/** The pauses between all checks after a move, together, and a little more. */
const allChecksMs = 2_300;

suite('git: moves of branches', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
  });
  teardown(() => fixture.remove());

  const tipOf = (branch: string): string => fixture.git('rev-parse', branch);

  /** A commit on top of `from` with one more file, made without a checkout. */
  function commitOn(from: string, path: string): string {
    const other = join(fixture.home, `clone-${path}`);
    fixture.git('worktree', 'add', '-q', '--detach', other, from);
    fixture.write(join(other, path), `${path}\n`);
    fixture.gitIn(other, 'add', '-A');
    fixture.gitIn(other, 'commit', '-qm', path);
    const sha = fixture.gitIn(other, 'rev-parse', 'HEAD');
    fixture.git('worktree', 'remove', '--force', other);
    return sha;
  }

  test('a target behind a symbolic ref follows in the checkout that holds it', async () => {
    fixture.git('branch', '-m', 'main', 'master');
    fixture.git('symbolic-ref', 'refs/heads/main', 'refs/heads/master');
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    for (const [head, target] of [
      ['main', 'main'],
      ['main', 'master'],
      ['master', 'main'],
    ] as const) {
      fixture.git('symbolic-ref', 'HEAD', `refs/heads/${head}`);
      const tip = commitOn(tipOf('master'), `${head}-${target}.txt`);
      const outcome = valueOf(await repository.follow(target, tip, 'fast-forward'));
      assert.deepEqual(outcome, { kind: 'followed', sha: tip });
      assert.equal(tipOf('master'), tip);
      assert.equal(fixture.git('status', '--porcelain'), '');
      assert.equal(fixture.git('symbolic-ref', 'refs/heads/main'), 'refs/heads/master');
    }
    assert.equal(await repository.canonicalBranch('main'), 'master');
    assert.equal(await repository.canonicalBranch('none'), 'none');
  });

  test('a branch of our own moves only from the value that is known', async () => {
    const first = tipOf('main');
    const second = commitOn(first, 'two.txt');
    const third = commitOn(first, 'three.txt');
    const name = 'drover/results/main';
    assert.deepEqual(valueOf(await repository.moveBranch(name, second, null)), { kind: 'moved' });
    assert.equal(kindOf(await repository.moveBranch(name, third, first)), 'stale');
    assert.equal(kindOf(await repository.moveBranch(name, null, first)), 'stale');
    assert.equal(tipOf(name), second);
    valueOf(await repository.moveBranch(name, third, second));
    valueOf(await repository.moveBranch(name, null, third));
    assert.equal(fixture.git('branch', '--list', 'drover/*'), '');
  });

  test('a branch of our own that somebody looks at goes forward with the files, and in no other way', async () => {
    const first = tipOf('main');
    const second = commitOn(first, 'two.txt');
    const beside = commitOn(first, 'beside.txt');
    const name = 'drover/results/main';
    fixture.git('switch', '-q', '-c', name);
    assert.deepEqual(valueOf(await repository.moveBranch(name, second, first)), { kind: 'moved' });
    assert.equal(fixture.git('status', '--porcelain'), '');
    for (const next of [beside, first, null]) {
      const kept = valueOf(await repository.moveBranch(name, next, second));
      assert.match(kept.kind === 'kept' ? kept.reason : '', /is checked out in /);
    }
    assert.equal(tipOf(name), second);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a switch that was under way while the branch moved ends with the files of the new commit', async () => {
    const first = tipOf('main');
    const tip = commitOn(first, 'landed.txt');
    fixture.git('switch', '-q', '--detach');
    valueOf(await repository.follow('main', tip, 'fast-forward'));
    // The last thing that `git switch` writes; files and index are those it had read before.
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    await eventually('the checkout is whole', () => fixture.git('status', '--porcelain') === '');
    assert.equal(fixture.git('show', 'HEAD:landed.txt'), 'landed.txt');
  });

  test('a switch that was under way, and a commit of one file right after it', async () => {
    const first = tipOf('main');
    const tip = commitOn(first, 'landed.txt');
    fixture.git('update-ref', 'refs/heads/main', tip);
    fixture.write(join(fixture.root, 'mine.txt'), 'mine\n');
    fixture.git('add', 'mine.txt');
    fixture.git('commit', '-qm', 'mine', '--', 'mine.txt');
    assert.equal(fixture.git('status', '--porcelain'), 'D  landed.txt');
    const { context } = valueOf(await fixture.adapter().open(fixture.root));
    assert.equal(await repairLate(context, 'refs/heads/main', { from: first, to: tip }), 'over');
    assert.equal(fixture.git('status', '--porcelain'), '');
    assert.equal(fixture.git('ls-tree', '--name-only', 'HEAD', 'mine.txt'), 'mine.txt');
  });

  test('a checkout whose index git holds is asked again, and is whole in the end', async () => {
    const first = tipOf('main');
    const tip = commitOn(first, 'landed.txt');
    fixture.git('update-ref', 'refs/heads/main', tip);
    const look = await looks({ from: first, to: tip });
    // As a program does for a moment that shows what has changed.
    const lock = join(fixture.root, '.git', 'index.lock');
    writeFileSync(lock, '');
    assert.equal(await look(), 'busy');
    rmSync(lock);
    assert.equal(await look(), 'over');
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a checkout that is long on its way there is asked again, and is whole in the end', async () => {
    const from = commitOn(tipOf('main'), 'slow.txt');
    const to = commitOn(from, 'landed.txt');
    fixture.git('switch', '-q', '--detach');
    fixture.git('update-ref', 'refs/heads/main', from);
    const barrier = makeBarrier(fixture.home, 'switch');
    const script = join(fixture.home, 'smudge.sh');
    writeFileSync(script, `: > '${barrier.path}.open'\n${barrier.wait}\ncat\n`);
    fixture.write(join(fixture.root, '.git', 'info', 'attributes'), 'slow.txt filter=slow\n');
    fixture.git('config', 'filter.slow.smudge', `sh '${script}'`);
    const command = spawn('git', ['switch', '-q', 'main'], {
      cwd: fixture.root,
      env: { ...fixture.environment },
      stdio: 'ignore',
    });
    const ended = once(command, 'exit');
    await eventually('the switch has begun', () => existsSync(`${barrier.path}.open`));
    fixture.git('update-ref', 'refs/heads/main', to);
    const look = await looks({ from, to });
    assert.equal(await look(), process.platform === 'linux' ? 'busy' : 'open');
    barrier.open();
    assert.deepEqual(await ended, [0, null]);
    barrier.close();
    assert.equal(await look(), 'over');
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('checks that found the index held use none of their number up', async () => {
    const tip = commitOn(tipOf('main'), 'landed.txt');
    fixture.git('switch', '-q', '--detach');
    valueOf(await repository.follow('main', tip, 'fast-forward'));
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    const lock = join(fixture.root, '.git', 'index.lock');
    writeFileSync(lock, '');
    await delay(allChecksMs);
    rmSync(lock);
    await eventually('the checkout is whole', () => fixture.git('status', '--porcelain') === '');
  });

  async function looks(step: { readonly from: string; readonly to: string }) {
    const { context } = valueOf(await fixture.adapter().open(fixture.root));
    return () => repairLate(context, 'refs/heads/main', step);
  }

  test('what a person takes out in such a checkout stays out', async () => {
    const first = tipOf('main');
    const tip = commitOn(first, 'landed.txt');
    fixture.git('merge', '-q', '--ff-only', tip);
    fixture.write(join(fixture.root, 'mine.txt'), 'mine\n');
    fixture.git('add', 'mine.txt');
    fixture.git('rm', '-q', 'landed.txt');
    const { context } = valueOf(await fixture.adapter().open(fixture.root));
    assert.equal(await repairLate(context, 'refs/heads/main', { from: first, to: tip }), 'open');
    fixture.git('commit', '-qm', 'without it');
    assert.equal(await repairLate(context, 'refs/heads/main', { from: first, to: tip }), 'open');
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a merge of a person that fails while the branch moves under it', async () => {
    const first = tipOf('main');
    const tip = commitOn(first, 'landed.txt');
    valueOf(await repository.follow('main', tip, 'fast-forward'));
    // What git does then, for a merge that started before: files and index of the commit that it
    // had read.
    fixture.git('read-tree', '--reset', '-u', first);
    await eventually('the checkout is whole', () => fixture.git('status', '--porcelain') === '');
    assert.equal(fixture.git('show', 'HEAD:landed.txt'), 'landed.txt');
  });

  if (process.platform === 'linux') {
    for (const isElsewhere of [false, true]) {
      const where = isElsewhere ? 'in a checkout that has yet to get there' : 'in its checkout';
      test(`a branch waits for a command of git that is running ${where}`, async () => {
        const tip = commitOn(tipOf('main'), 'landed.txt');
        const editor = makeBarrier(fixture.home, 'editor');
        const script = join(fixture.home, 'editor.sh');
        writeFileSync(script, `#!/bin/sh\n: > '${editor.path}.open'\n${editor.wait}\n`, {
          mode: 0o755,
        });
        if (isElsewhere) fixture.git('switch', '-q', '-c', 'side');
        const env = { ...fixture.environment, GIT_EDITOR: `'${script}'` };
        const args = [
          '-c',
          'core.commentChar=;',
          'commit',
          '-q',
          '--allow-empty',
          '-m',
          'mine',
          '-e',
        ];
        const command = spawn('git', args, { cwd: fixture.root, env, stdio: 'ignore' });
        const ended = once(command, 'exit');
        await eventually('the editor is open', () => existsSync(`${editor.path}.open`));
        const outcome = valueOf(await repository.follow('main', tip, 'fast-forward'));
        assert.match(
          outcome.kind === 'pending' ? outcome.reason : '',
          /^Git is running: git commit/,
        );
        assert.notEqual(tipOf('main'), tip);
        editor.open();
        assert.deepEqual(await ended, [0, null]);
        editor.close();
        const after = valueOf(await repository.follow('main', tip, 'fast-forward'));
        assert.equal(after.kind, isElsewhere ? 'followed' : 'pending');
        assert.equal(fixture.git('log', '-1', '--format=%s'), 'mine');
      });
    }
  }

  if (process.platform === 'linux') {
    test('a reset that began beside the move, and writes and gives up after a check, takes nothing out', async () => {
      const own = commitOn(tipOf('main'), 'own.txt');
      fixture.git('merge', '-q', '--ff-only', own);
      const tip = commitOn(own, 'landed.txt');
      const editor = makeBarrier(fixture.home, 'editor');
      // In place of a reset, which cannot be held: it writes index and files, and sees at its end that HEAD has moved.
      const script = join(fixture.home, 'editor.sh');
      const act = `git read-tree -m -u ${tip} ${own}~1; exit 1`;
      writeFileSync(script, `#!/bin/sh\n: > '${editor.path}.open'\n${editor.wait}\n${act}\n`, {
        mode: 0o755,
      });
      const env = { ...fixture.environment, GIT_EDITOR: `'${script}'` };
      const args = ['commit', '-q', '--allow-empty', '-e', '-m', 'given up'];
      const { context } = valueOf(await fixture.adapter().open(fixture.root));
      fixture.git('merge', '-q', '--ff-only', tip);
      const command = spawn('git', args, { cwd: fixture.root, env, stdio: 'ignore' });
      const ended = once(command, 'exit');
      await eventually('the command has begun', () => existsSync(`${editor.path}.open`));
      const step = { from: own, to: tip };
      const seen = new Map<string, string>();
      const since = { isUnderWay: true, mayArriveLate: false };
      const check = (): ReturnType<typeof repairLate> =>
        repairLate(context, 'refs/heads/main', step, seen, since);
      assert.equal(await check(), 'busy');
      editor.open();
      await ended;
      editor.close();
      assert.notEqual(fixture.git('status', '--porcelain'), '');
      assert.equal(await check(), 'over');
      assert.equal(fixture.git('status', '--porcelain'), '');
      assert.equal(tipOf('main'), tip);
    });
  }

  test('without a shell: a reset of a person in the middle of a follow leaves nothing of it behind', async () => {
    const first = tipOf('main');
    const own = commitOn(first, 'own.txt');
    fixture.git('merge', '-q', '--ff-only', own);
    const tip = commitOn(own, 'landed.txt');
    // Git reads the index before it locks it: the reset comes in between, and the follow's index is written last.
    const script = join(fixture.home, 'late-git');
    const act = `git read-tree -m -u ${own} ${tip}; git update-ref refs/heads/main ${first}; rm own.txt; echo "fatal: cannot lock ref 'HEAD': is at ${first} but expected ${own}" >&2; exit 128`;
    writeFileSync(
      script,
      `#!/bin/sh\ncase "$*" in *"merge -q --no-stat --ff-only"*) ${act};; esac\nexec git "$@"\n`,
      { mode: 0o755 },
    );
    repository = await fixture.open({ binary: script, holdsIndexes: false });
    const outcome = valueOf(await repository.follow('main', tip, 'fast-forward'));
    assert.equal(outcome.kind, 'pending');
    assert.equal(tipOf('main'), first);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  for (const isRefused of [false, true]) {
    const how = isRefused ? 'is refused' : 'arrives';
    test(`without a shell: a rebase that gives up as it begins, because a landing ${how}, takes nothing out`, async () => {
      const own = commitOn(tipOf('main'), 'own.txt');
      fixture.git('merge', '-q', '--ff-only', own);
      const tip = commitOn(own, 'landed.txt');
      // Git writes index and files of the commit that it rebases onto, sees that HEAD or ORIG_HEAD has moved, and ends.
      const script = join(fixture.home, 'late-git');
      const rebase = `git read-tree -m -u ${own} ${own}~1`;
      const then = isRefused ? 'echo "fatal: refused" >&2; exit 128' : 'exec git "$@"';
      writeFileSync(
        script,
        `#!/bin/sh\ncase "$*" in *"merge -q --no-stat --ff-only"*) ${rebase}; ${then};; esac\nexec git "$@"\n`,
        { mode: 0o755 },
      );
      repository = await fixture.open({ binary: script, holdsIndexes: false });
      const outcome = valueOf(await repository.follow('main', tip, 'fast-forward'));
      assert.equal(outcome.kind, isRefused ? 'pending' : 'followed');
      assert.equal(tipOf('main'), isRefused ? own : tip);
      await eventually('the checkout is whole', () => fixture.git('status', '--porcelain') === '');
      assert.equal(fixture.git('show', 'HEAD:own.txt'), 'own.txt');
    });
  }

  test('what a person had taken out before a landing stays taken out', async () => {
    const own = commitOn(tipOf('main'), 'own.txt');
    fixture.git('merge', '-q', '--ff-only', own);
    fixture.git('rm', '-q', 'own.txt');
    const tip = commitOn(own, 'landed.txt');
    valueOf(await repository.follow('main', tip, 'fast-forward'));
    const next = commitOn(tip, 'next.txt');
    // By its second follow the first one has been checked again.
    valueOf(await repository.follow('main', next, 'fast-forward'));
    assert.equal(fixture.git('status', '--porcelain'), 'D  own.txt');
  });

  test('what a person had staged goes along with a switch that was under way', async () => {
    const tip = commitOn(tipOf('main'), 'landed.txt');
    fixture.git('switch', '-q', '--detach');
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    fixture.git('add', 'README.md');
    valueOf(await repository.follow('main', tip, 'fast-forward'));
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    const next = commitOn(tip, 'next.txt');
    // Also where the next landing comes before the first one has arrived.
    valueOf(await repository.follow('main', next, 'fast-forward'));
    await eventually(
      'the checkout is whole',
      () => fixture.git('status', '--porcelain') === 'M  README.md',
    );
    assert.equal(fixture.git('show', ':README.md'), 'mine');
  });

  test('what a person takes out after they have arrived stays out, whatever else they stage', async () => {
    const first = tipOf('main');
    const tip = commitOn(first, 'landed.txt');
    const { context } = valueOf(await fixture.adapter().open(fixture.root));
    const since = { isUnderWay: false, mayArriveLate: true };
    const look = () =>
      repairLate(context, 'refs/heads/main', { from: first, to: tip }, new Map(), since);
    fixture.git('merge', '-q', '--ff-only', tip);
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    fixture.git('add', 'README.md');
    assert.equal(await look(), 'open');
    fixture.git('rm', '-q', 'landed.txt');
    assert.equal(await look(), 'open');
    assert.equal(fixture.git('status', '--porcelain'), 'M  README.md\nD  landed.txt');
  });

  test('a file that a person has staged otherwise than both sides is left alone', async () => {
    const tip = commitOn(tipOf('main'), 'landed.txt');
    const { context } = valueOf(await fixture.adapter().open(fixture.root));
    fixture.write(join(fixture.root, 'landed.txt'), 'mine\n');
    fixture.git('add', 'landed.txt');
    fixture.git('update-ref', 'refs/heads/main', tip);
    const since = { isUnderWay: false, mayArriveLate: true };
    const step = { from: `${tip}~1`, to: tip };
    assert.equal(await repairLate(context, 'refs/heads/main', step, new Map(), since), 'open');
    assert.equal(fixture.git('show', ':landed.txt'), 'mine');
  });
});
