// The user's configuration in a confined program's git: files that it names exist there, and
// settings that need the user's programs or keys are off.

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalRepository } from '../../server/git/local-port.ts';
import { lentNames } from '../../server/git/lent/lent-settings.ts';
import { makeFixture, startTask, type Task, valueOf, type Fixture } from './fixture.ts';
import { gitInside } from './lent-git.ts';

suite('git: settings of a confined program', function () {
  this.timeout(60_000);
  let fixture: Fixture;
  let repository: LocalRepository;
  let task: Task;
  setup(() => void (fixture = makeFixture()));
  teardown(() => fixture.remove());

  const configure = (text: string, file = '.gitconfig'): void =>
    fixture.write(join(fixture.home, file), text);
  const put = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);

  /** Git as the program runs it, which sees nothing of the user's home. */
  const start = async (): Promise<void> => {
    repository = (await fixture.open()) as LocalRepository;
    task = await startTask(fixture, repository, 's0', 'task-1');
  };
  const lend = async (): Promise<(...args: readonly string[]) => string> => {
    await start();
    return await lendAgain();
  };
  const lendAgain = async (): Promise<(...args: readonly string[]) => string> => {
    const lent = valueOf(await repository.lend(task.path));
    // The sandbox mounts the folder at the path of the shared one, which settings name.
    const here = (text: string): string => text.replaceAll(lent.commonDir, lent.folder);
    const inside = gitInside(task.path, lent);
    return (...args) => {
      const files = ['core.excludesFile', 'core.attributesFile', 'blame.ignoreRevsFile'];
      const told = files.flatMap((key) => {
        const value = valueIn(inside, key);
        return value === null ? [] : ['-c', `${key}=${here(value)}`];
      });
      return inside(...told, ...args)
        .toString('utf8')
        .trimEnd();
    };
  };
  const valueIn = (inside: ReturnType<typeof gitInside>, key: string): string | null => {
    try {
      return inside('config', '--get', key).toString('utf8').trimEnd();
    } catch {
      return null;
    }
  };

  test("ignore rules and attributes of the user's own files apply, even behind a link", async () => {
    configure('[core]\n\texcludesFile = ~/dots/ignore\n\tattributesFile = ~/attributes\n');
    fixture.write(join(fixture.home, 'real-ignore'), '*.swp\n');
    fixture.write(join(fixture.home, 'dots', 'other'), '');
    symlinkSync('../real-ignore', join(fixture.home, 'dots', 'ignore'));
    fixture.write(join(fixture.home, 'attributes'), '*.dat -text\n');
    const git = await lend();
    put('x.swp', 'x');
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('check-attr', 'text', 'x.dat'), 'x.dat: text: unset');
  });

  test('settings of included files apply, and conditional ones depend on the folder', async () => {
    configure(
      `[include]\n\tpath = ~/one\n[includeIf "gitdir:${fixture.root}/"]\n\tpath = ~/two\n[includeIf "gitdir:/no/"]\n\tpath = ~/three\n`,
    );
    configure(
      '[filter "up"]\n\tclean = tr a-z A-Z\n[core]\n\tattributesFile = ~/attributes\n',
      'one',
    );
    configure('[diff]\n\tmnemonicPrefix = true\n', 'two');
    configure('[diff]\n\tnoPrefix = true\n', 'three');
    configure('*.up filter=up\n', 'attributes');
    const git = await lend();
    put('a.up', 'loud\n');
    git('add', 'a.up');
    assert.equal(git('show', ':a.up'), 'LOUD');
    assert.equal(git('config', 'diff.mnemonicPrefix'), 'true');
    assert.throws(() => git('config', 'diff.noPrefix'));
  });

  test('a file in the worktree that a setting names still comes from the worktree', async () => {
    configure('secret\n', 'secret');
    configure('[core]\n\texcludesFile = rules\n[blame]\n\tignoreRevsFile = revs\n');
    await start();
    symlinkSync(join(fixture.home, 'secret'), join(task.path, 'rules'));
    const git = await lendAgain();
    assert.equal(git('config', 'core.excludesFile'), 'rules');
    assert.equal(git('config', 'blame.ignoreRevsFile'), 'revs');
  });

  test("settings that need the user's keys and programs are off, and are listed", async () => {
    configure(
      `[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[gpg]\n\tprogram = /no/gpg\n[log]\n\tshowSignature = true
[core]\n\tfsmonitor = /no/watcher\n\thooksPath = ${fixture.home}/hooks\n\tsshCommand = /no/ssh
[credential]\n\thelper = store\n[credential "https://example.com"]\n\thelper = !no\n`,
    );
    fixture.git('config', 'core.hooksPath', join(fixture.home, 'hooks'));
    const git = await lend();
    put('a.txt', 'a');
    git('add', 'a.txt');
    git('commit', '-qm', 'mine');
    git('tag', '-m', 'x', 'x');
    assert.equal(git('log', '-1', '--format=%s'), 'mine');
    const names = valueOf(await lentNames(repository.context));
    assert.deepEqual(names.off, [
      'commit.gpgsign',
      'tag.gpgsign',
      'log.showsignature',
      'core.fsmonitor',
      'core.hookspath',
      'core.sshcommand',
      'credential.helper',
    ]);
  });

  test('a user without such settings gets no message', async () => {
    configure('[user]\n\tname = A\n[commit]\n\tgpgSign = false\n');
    await lend();
    assert.deepEqual(valueOf(await lentNames(repository.context)), { brought: [], off: [] });
  });
});
