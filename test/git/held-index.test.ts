// Drover holds the index of a checkout while that moves; its own death lets go of it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeMissing } from '../../server/git/moves/arrived-files.ts';
import { repairLate } from '../../server/git/moves/late-checkouts.ts';
import { gitProcesses } from '../../server/git/moves/git-processes.ts';
import { moveHeld } from '../../server/git/moves/held-index.ts';
import type { RepositoryContext } from '../../server/git/context.ts';
import { unfinishedOperation } from '../../server/git/refs/worktree-heads.ts';
import { makeBarrier } from '../e2e/support/agent-scripts.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Fixture, landedOn, makeFixture, valueOf } from './fixture.ts';

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
  const asFound = { isAsFound: () => Promise.resolve(true) };

  test('is locked when its state is asked, and let go unchanged where that is another', async () => {
    const before = readFileSync(join(fixture.root, '.git', 'index'));
    let wasLocked = false;
    const end = await moveHeld(
      context,
      checkout(),
      { ...move, from: first, to: tip },
      {
        isAsFound: () => {
          wasLocked = existsSync(lock());
          return Promise.resolve(false);
        },
      },
    );
    assert.deepEqual([end?.kind, wasLocked, existsSync(lock())], ['in use', true, false]);
    assert.deepEqual(readFileSync(join(fixture.root, '.git', 'index')), before);
    assert.equal(fixture.git('rev-parse', 'main'), first);
  });

  test('ends a merge that was about to lock it, and that would be committed without its content', async () => {
    fixture.git('branch', '-q', 'side', tip);
    fixture.git('commit', '-q', '--allow-empty', '-m', 'own');
    const own = fixture.git('rev-parse', 'main');
    const to = fixture.git('commit-tree', '-m', 'next', '-p', own, `${own}^{tree}`);
    const end = await moveHeld(
      context,
      checkout(),
      { ...move, from: own, to },
      {
        isAsFound: () => {
          assert.throws(() => fixture.git('merge', '-q', '--no-edit', 'side'), /write index/);
          assert.notEqual(unfinishedOperation(checkout().gitDir), null);
          return Promise.resolve(false);
        },
      },
    );
    assert.equal(end?.kind, 'in use');
    assert.equal(unfinishedOperation(checkout().gitDir), null);
    assert.throws(() => fixture.git('commit', '-qm', 'what was to be merged'));
  });

  test('has its new content before it is let go', async () => {
    let seen: readonly [string, boolean] | null = null;
    const overtakenAt = (): Promise<null> => {
      seen = [fixture.git('diff-index', '--cached', tip), existsSync(lock())];
      return Promise.resolve(null);
    };
    const steps = { ...asFound, overtakenAt };
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, steps);
    assert.deepEqual([end?.kind, seen, existsSync(lock())], ['moved', ['', true], false]);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('is let go unchanged where the question fails', async () => {
    const end = await moveHeld(
      context,
      checkout(),
      { ...move, from: first, to: tip },
      {
        isAsFound: () => Promise.reject(new Error('no')),
      },
    );
    assert.deepEqual([end?.kind, existsSync(lock())], ['in use', false]);
    assert.equal(fixture.git('rev-parse', 'main'), first);
  });

  test('needs no second git at once for what is asked meanwhile', async () => {
    const alone = valueOf(await fixture.adapter({ concurrency: 1 }).open(fixture.root)).context;
    const end = await moveHeld(
      alone,
      checkout(),
      { ...move, from: first, to: tip },
      { isAsFound: async () => (await alone.git(['rev-parse', 'HEAD'])).code === 0 },
    );
    assert.equal(end?.kind, 'moved');
  });

  test('is left alone where someone else holds it', async () => {
    writeFileSync(lock(), '');
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, asFound);
    assert.deepEqual([end?.kind, readFileSync(lock(), 'utf8')], ['locked', '']);
    assert.equal(fixture.git('rev-parse', 'main'), first);
  });

  test('says what is in the way, and stays as it was', async () => {
    fixture.write(join(fixture.root, 'new.txt'), 'mine\n');
    const end = await moveHeld(context, checkout(), { ...move, from: first, to: tip }, asFound);
    assert.match(end?.kind === 'refused' ? end.said : '', /new\.txt/);
    assert.equal(existsSync(lock()), false);
    assert.equal(fixture.git('status', '--porcelain'), '?? new.txt');
  });

  test('moves alone, without the branch', async () => {
    fixture.git('update-ref', 'refs/heads/main', tip);
    const end = await moveHeld(context, checkout(), { ref: null, from: first, to: tip }, asFound);
    assert.deepEqual([end?.kind, existsSync(lock())], ['moved', false]);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  for (const [what, isKnown, wereCommands, isWritten] of [
    ['that Drover knows to have arrived is', true, false, true],
    ['while another command ran is', false, true, true],
    ['of which nothing tells is not', false, false, false],
  ] as const) {
    test(`what is missing after a move ${what} written again`, async () => {
      if (isKnown) context.touched.note(first, tip, ['new.txt', 'deleted.txt']);
      fixture.git('merge', '-q', '--ff-only', tip);
      rmSync(join(fixture.root, 'new.txt'));
      rmSync(join(fixture.root, 'README.md'));
      const arrived = { at: fixture.root, index: join(fixture.root, '.git', 'index') };
      await writeMissing(context, { ...arrived, from: first, to: tip }, wereCommands);
      const lacking = isWritten ? ' D README.md' : ' D README.md\n D new.txt';
      assert.equal(fixture.git('status', '--porcelain').trim(), lacking.trim());
    });
  }

  test('a clean of a person takes away nothing of what arrives', async () => {
    const script = join(fixture.home, 'git-before-a-clean');
    const unset = 'env -u GIT_INDEX_FILE -u GIT_DIR -u GIT_WORK_TREE -u GIT_COMMON_DIR';
    writeFileSync(
      script,
      `#!/bin/sh\ngit "$@"; code=$?\ncase "$*" in *"merge -q --no-stat --ff-only"*) ${unset} git clean -q -fdx;; esac\nexit $code\n`,
      { mode: 0o755 },
    );
    const repository = valueOf(await fixture.adapter({ binary: script }).open(fixture.root));
    repository.context.touched.note(first, tip, ['new.txt']);
    assert.equal(valueOf(await repository.follow('main', tip, 'fast-forward')).kind, 'followed');
    assert.equal(fixture.git('status', '--porcelain'), '');
    assert.equal(readFileSync(join(fixture.root, 'new.txt'), 'utf8'), 'n\n');
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

suite('git: commands of a person while a checkout moves', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  const main = (): string => fixture.git('rev-parse', 'main');
  const land = async (from: string, files: Readonly<Record<string, string>>): Promise<string> =>
    landedOn(fixture, await fixture.open(), from, files);

  /** A commit on a branch `side`, which the checkout does not have. */
  function landedBeside(): string {
    const tree = fixture.git('rev-parse', 'HEAD^{tree}');
    const side = fixture.git('commit-tree', '-m', 'side', '-p', 'HEAD', tree);
    fixture.git('branch', 'side', side);
    return side;
  }

  for (const [what, theirs] of [
    ['a reset', 'reset -q --hard HEAD~1'],
    ['a commit', 'commit -q --allow-empty -m theirs'],
    ['a switch', 'switch -q -c other HEAD~1'],
    ['a rebase', 'rebase -q HEAD~1 side'],
    ['an add', 'add notes.txt'],
    ['a stash', 'stash -q -u'],
    ['a merge', 'merge -q --no-edit side'],
    ['a pull', 'pull -q --no-edit --no-rebase . side'],
    ['a cherry-pick', 'cherry-pick --allow-empty side'],
    ['a revert', 'revert --no-edit HEAD'],
  ] as const) {
    for (const isRefused of [false, true]) {
      const how = isRefused ? 'is refused' : 'arrives';
      test(`${what} that a person starts while a landing ${how} finds the index locked, and changes nothing`, async () => {
        const side = landedBeside();
        fixture.write(join(fixture.root, 'own.txt'), 'own\n');
        fixture.git('add', 'own.txt');
        fixture.git('commit', '-qm', 'own');
        fixture.write(join(fixture.root, 'notes.txt'), 'mine\n');
        const files = isRefused ? { 'notes.txt': 'n\n' } : { 'new.txt': 'n\n' };
        const before = main();
        const tip = await land(before, files);
        const refused = join(fixture.home, 'refused');
        const script = join(fixture.home, 'git-beside-a-person');
        const unset = 'env -u GIT_INDEX_FILE -u GIT_DIR -u GIT_WORK_TREE -u GIT_COMMON_DIR';
        const act = `[ -e '${refused}' ] || { ${unset} git ${theirs} 2> /dev/null && exit 99; : > '${refused}'; }`;
        writeFileSync(
          script,
          `#!/bin/sh\ncase "$*" in *"merge -q --no-stat --ff-only"*) ${act};; esac\nexec git "$@"\n`,
          { mode: 0o755 },
        );
        const repository = await fixture.open({ binary: script });
        const outcome = valueOf(await repository.follow('main', tip, 'fast-forward'));
        assert.equal(outcome.kind, isRefused ? 'pending' : 'followed');
        assert.equal(existsSync(refused), true);
        assert.equal(main(), isRefused ? before : tip);
        assert.equal(fixture.git('status', '--porcelain'), '?? notes.txt');
        assert.equal(readFileSync(join(fixture.root, 'notes.txt'), 'utf8'), 'mine\n');
        assert.equal(fixture.git('rev-parse', 'side'), side);
        assert.equal(unfinishedOperation(join(fixture.root, '.git')), null);
        assert.equal(existsSync(join(fixture.root, '.git', 'index.lock')), false);
      });
    }
  }

  test('what a merge of a person has put aside before it asks for the index comes back', async () => {
    landedBeside();
    fixture.write(join(fixture.root, 'staged.txt'), 'staged\n');
    fixture.git('add', 'staged.txt');
    fixture.write(join(fixture.root, 'staged.txt'), 'and changed\n');
    const tip = await land(main(), { 'new.txt': 'n\n' });
    const [begun, bin] = [join(fixture.home, 'begun'), join(fixture.home, 'bin')];
    const path = fixture.environment['PATH'] ?? '';
    // What is put aside is ready once the landing has put its index in place, or after a while.
    const wait = `left=15; until git ls-files --error-unmatch new.txt > /dev/null 2>&1 || [ $left = 0 ]; do left=$((left - 1)); sleep 0.1; done`;
    fixture.write(
      join(bin, 'git'),
      `#!/bin/sh\nunset GIT_EXEC_PATH; PATH='${path}'\ncase "$*" in "stash create"*) git "$@"; : > '${begun}'; ${wait};; *) exec git "$@";; esac\n`,
    );
    chmodSync(join(bin, 'git'), 0o755);
    const script = join(fixture.home, 'git-beside-a-merge');
    const unset = 'env -u GIT_INDEX_FILE -u GIT_DIR -u GIT_WORK_TREE -u GIT_COMMON_DIR';
    const act = `GIT_EXEC_PATH='${bin}' ${unset} git merge -q --no-edit side > /dev/null 2>&1 &`;
    writeFileSync(
      script,
      `#!/bin/sh\ngit "$@"; code=$?\ncase "$*" in *"merge -q --no-stat --ff-only"*) ${act} until [ -e '${begun}' ]; do sleep 0.02; done;; esac\nexit $code\n`,
      { mode: 0o755 },
    );
    const repository = await fixture.open({ binary: script });
    assert.equal(valueOf(await repository.follow('main', tip, 'fast-forward')).kind, 'followed');
    await eventually('the merge has ended', () =>
      (gitProcesses() ?? []).every(({ folder }) => folder !== fixture.root),
    );
    assert.equal(main(), tip);
    assert.equal(fixture.git('status', '--porcelain'), 'AM staged.txt');
    assert.equal(fixture.git('show', ':staged.txt'), 'staged');
    assert.equal(readFileSync(join(fixture.root, 'staged.txt'), 'utf8'), 'and changed\n');
  });

  for (const [what, theirs, left] of [
    ['a new branch', 'switch -q -c side', { main: 'own', head: 'own', status: '' }],
    [
      'a soft reset',
      'reset -q --soft HEAD~1',
      { main: 'first', head: 'first', status: 'A  own.txt' },
    ],
  ] as const) {
    test(`${what} of a person, which needs no index, keeps what they have while a landing arrives`, async () => {
      const first = main();
      fixture.write(join(fixture.root, 'own.txt'), 'own\n');
      fixture.git('add', 'own.txt');
      fixture.git('commit', '-qm', 'own');
      const own = main();
      const tip = await land(own, { 'new.txt': 'n\n' });
      const script = join(fixture.home, 'git-beside-a-person');
      const once = join(fixture.home, 'once');
      const unset = 'env -u GIT_INDEX_FILE -u GIT_DIR -u GIT_WORK_TREE -u GIT_COMMON_DIR';
      const act = `[ -e '${once}' ] || { : > '${once}'; ${unset} git ${theirs} || exit 99; }`;
      writeFileSync(
        script,
        `#!/bin/sh\ncase "$*" in *"merge -q --no-stat --ff-only"*) ${act};; esac\nexec git "$@"\n`,
        { mode: 0o755 },
      );
      const repository = await fixture.open({ binary: script });
      await repository.follow('main', tip, 'fast-forward');
      const name = new Map([
        [first, 'first'],
        [own, 'own'],
        [tip, 'tip'],
      ]);
      const found = {
        main: name.get(main()),
        head: name.get(fixture.git('rev-parse', 'HEAD')),
        status: fixture.git('status', '--porcelain'),
      };
      assert.deepEqual(found, left);
    });
  }
});
