// Which commands of git move a branch or write what they have read of it.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsEnd, gitProcesses, moverOf } from '../../../server/git/moves/git-processes.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('commands of git that a move of a branch waits for', () => {
  for (const [line, command] of [
    ['git merge side', 'merge'],
    ['git -C /elsewhere -c a=b --no-pager rebase -i HEAD~2', 'rebase'],
    ['/usr/lib/git-core/git --git-dir .git --work-tree . switch main', 'switch'],
    ['git --git-dir=.git pull', 'pull'],
    ['git log merge', null],
    ['git status', null],
    ['git -c merge', null],
    ['git', null],
  ] as const)
    test(line, () => assert.equal(moverOf(line.split(' ')), command));
});

suite('a command of git that runs in a checkout', () => {
  let folder: string;
  let command: ChildProcess | null = null;
  setup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-movers-')));
    // A shell by the name of git: it ends when the test lets it, and `merge` is its last word.
    symlinkSync('/bin/sh', join(folder, 'git'));
  });
  teardown(() => {
    command?.kill('SIGKILL');
    removeFolder(folder);
  });

  const places = (): {
    readonly commonDir: string;
    readonly root: string;
    readonly isBare: false;
  } => ({
    commonDir: join(folder, '.git'),
    root: folder,
    isBare: false,
  });

  async function start(go: string): Promise<void> {
    const script = `until [ -e ${go} ]; do sleep 0.01; done`;
    const args = ['-c', script, 'merge'];
    command = spawn(join(folder, 'git'), args, { cwd: folder, stdio: 'ignore' });
    const { pid } = command;
    await eventually('it runs', () => gitProcesses()?.some((each) => each.pid === pid));
  }

  test('is named while it runs on, and elsewhere it is no concern', async () => {
    assert.equal(await commandsEnd(places(), [folder]), 'free');
    await start('never');
    const found = await commandsEnd(places(), [folder]);
    assert.ok(typeof found === 'object', JSON.stringify(found));
    assert.match(found.running, /^git merge, process \d+$/);
    assert.equal(await commandsEnd(places(), [join(folder, 'elsewhere')]), 'free');
  });

  test('is waited for when it ends soon', async () => {
    await eventually('one that ends in time', async () => {
      const go = `go-${process.hrtime.bigint()}`;
      await start(go);
      const over = command === null ? null : once(command, 'exit');
      const waited = commandsEnd(places(), [folder]);
      writeFileSync(join(folder, go), '');
      const found = await waited;
      await over;
      return found === 'waited';
    });
  });
});
