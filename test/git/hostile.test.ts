// Files that an agent creates in its worktree run nothing through Drover's own git, and reach no
// other folder.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildOverrules } from '../../server/git/process/trusted-config.ts';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  leftoversOf,
  makeFixture,
  snapshotRef,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: hostile worktrees', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  /** Exists as soon as anything of the agent's has run. */
  let ran: string;
  const secret = 'a-value-of-the-user';
  setup(async () => {
    fixture = makeFixture();
    ran = join(fixture.home, 'ran.txt');
    repository = valueOf(
      await fixture
        .adapter({ environment: { ...fixture.environment, DEPLOY_PASS: secret } })
        .open(fixture.root),
    );
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => fixture.remove());

  const inSlot = (...args: readonly string[]): string => fixture.gitIn(task.path, ...args);
  const inSub = (...args: readonly string[]): string =>
    fixture.gitIn(join(task.path, 'sub'), '-c', 'user.name=x', '-c', 'user.email=x@y', ...args);
  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const tell = (): string => `sh -c 'env > "${ran}"; cat'`;

  /** Every check of a slot by Drover, and the slot's next task. */
  const allLooks = async (): Promise<void> => {
    await repository.status(task.path);
    await snapshotRef(repository, task.path, 'task-1/1');
    await repository.commitLeftovers(leftoversOf(task));
    await startTask(fixture, repository, 's0', 'task-2');
    await repository.removeWorktree({ path: task.path, label: 'x', force: true });
  };
  const nothingRan = (): void =>
    assert.equal(existsSync(ran) ? readFileSync(ran, 'utf8') : 'nothing', 'nothing');

  function makeSub(): void {
    mkdirSync(join(task.path, 'sub'));
    inSub('init', '-q', '-b', 'main', '.');
    write('sub/f.txt', 'one\n');
    inSub('add', '-A');
    inSub('commit', '-qm', 'inner');
  }

  for (const filter of ['clean', 'process'] as const) {
    test(`a ${filter} filter of a repository that is added as a link does not run`, async () => {
      makeSub();
      inSub('config', `filter.evil.${filter}`, tell());
      write('sub/.gitattributes', '* filter=evil\n');
      write('sub/f.txt', 'two\n');
      inSlot('add', 'sub');
      // Proves that the protection is needed: the same check with the user's git runs it.
      if (filter === 'clean') {
        inSlot('status');
        assert.equal(existsSync(ran), true);
        rmSync(ran);
      }
      await allLooks();
      nothingRan();
    });
  }

  test('a link in .gitmodules does not make git look inside', async () => {
    makeSub();
    inSub('config', 'filter.evil.clean', tell());
    write('sub/.gitattributes', '* filter=evil\n');
    write('sub/f.txt', 'two\n');
    write('.gitmodules', '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
    inSlot('add', 'sub', '.gitmodules');
    inSlot('commit', '-qm', 'a submodule');
    await allLooks();
    nothingRan();
  });

  test('a repository with a promisor command in place of the .git file runs nothing', async () => {
    rmSync(join(task.path, '.git'));
    inSlot('init', '-q', '-b', 'main', '.');
    // A path without spaces, because such an address is split at spaces.
    const evil = join(mkdtempSync(join(tmpdir(), 'evil-')), 'evil.sh');
    writeFileSync(evil, `#!/bin/sh\nenv > '${ran}'\n`, { mode: 0o755 });
    inSlot('config', 'remote.o.url', `ext::${evil}`);
    inSlot('config', 'remote.o.promisor', 'true');
    inSlot('config', 'extensions.partialClone', 'o');
    inSlot('config', 'core.repositoryFormatVersion', '1');
    inSlot('config', 'protocol.ext.allow', 'always');
    const missing = '1'.repeat(40);
    write('.git/refs/heads/main', `${missing}\n`);
    assert.throws(() => inSlot('rev-parse', 'HEAD^{commit}'));
    assert.equal(existsSync(ran), true, 'the person’s git runs it');
    rmSync(ran);
    await allLooks();
    nothingRan();
    removeFolder(dirname(evil));
  });

  test('the commits of a nested repository are kept without reading its hooks and filters', async () => {
    makeSub();
    inSub('config', 'filter.evil.clean', tell());
    inSub('config', 'uploadpack.packObjectsHook', tell());
    inSub('config', 'core.fsmonitor', tell());
    const inner = inSub('rev-parse', 'HEAD');
    await startTask(fixture, repository, 's0', 'task-2');
    nothingRan();
    assert.equal(fixture.git('cat-file', '-t', inner), 'commit');
  });

  test('objects that a nested repository borrows are not fetched from its alternates', async () => {
    const strange = join(fixture.home, 'strange');
    mkdirSync(strange);
    fixture.gitIn(strange, 'init', '-q', '-b', 'main', '.');
    fixture.write(join(strange, 'private.txt'), 'private\n');
    fixture.gitIn(strange, 'add', '-A');
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@y'];
    fixture.gitIn(strange, ...identity, 'commit', '-qm', 'private');
    const theirs = fixture.gitIn(strange, 'rev-parse', 'HEAD');
    mkdirSync(join(task.path, 'sub'));
    inSub('init', '-q', '-b', 'main', '.');
    write('sub/.git/objects/info/alternates', `${join(strange, '.git', 'objects')}\n`);
    write('sub/.git/refs/heads/main', `${theirs}\n`);
    await startTask(fixture, repository, 's0', 'task-2');
    assert.throws(() => fixture.git('cat-file', '-t', theirs));
  });

  test("a .git file that points to another slot's private folder is not followed", async () => {
    const other = await startTask(fixture, repository, 's1', 'task-2');
    const before = fixture.gitIn(other.path, 'rev-parse', '--symbolic-full-name', 'HEAD');
    const theirs = join(fixture.root, '.git', 'worktrees', 's1');
    writeFileSync(join(task.path, '.git'), `gitdir: ${theirs}\n`);
    write('mine.txt', 'mine\n');
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(fixture.gitIn(other.path, 'rev-parse', '--symbolic-full-name', 'HEAD'), before);
    assert.equal(fixture.gitIn(other.path, 'status', '--porcelain'), '');
    assert.equal(readFileSync(join(task.path, '.git'), 'utf8').trim().endsWith('/s0'), true);
  });

  test('a .git that is a pipe or a link blocks nothing', async () => {
    const pointer = join(task.path, '.git');
    rmSync(pointer);
    execFileSync('mkfifo', [pointer]);
    write('mine.txt', 'mine\n');
    assert.equal(valueOf(await repository.commitLeftovers(leftoversOf(task))).changed, true);
    rmSync(pointer);
    const precious = join(fixture.home, 'precious');
    writeFileSync(precious, 'precious\n');
    symlinkSync(precious, pointer);
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(readFileSync(precious, 'utf8'), 'precious\n');
  });

  test('attributes that point to a pipe do not block opening the repository', async () => {
    const pipe = join(fixture.home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    symlinkSync(pipe, join(fixture.root, '.gitattributes'));
    fixture.git('add', '.gitattributes');
    const opened = valueOf(await fixture.adapter().open(fixture.root));
    assert.equal(opened.facts.usesLfs, false);
  });

  test('a broken repository in place of the .git file costs the next task nothing', async () => {
    rmSync(join(task.path, '.git'));
    inSlot('init', '-q', '-b', 'main', '.');
    write('.git/refs/heads/main', `${'1'.repeat(40)}\n`);
    const next = await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(fixture.gitIn(next.path, 'status', '--porcelain'), '');
  });

  test('filters, drivers and hooks that are added to the configuration later do not run', async () => {
    const config = join(fixture.root, '.git', 'config');
    const command = tell().replaceAll('"', String.raw`\"`);
    appendFileSync(
      config,
      `[filter "evil"]\n\tclean = "${command}"\n\tsmudge = "${command}"\n\trequired = true\n` +
        `[merge "evil"]\n\tdriver = "${command}"\n[core]\n\tfsmonitor = "${command}"\n`,
    );
    write('.gitattributes', '*.txt filter=evil merge=evil\n');
    write('new.txt', 'new\n');
    await allLooks();
    nothingRan();
    assert.equal(fixture.git('show', `${task.branch}:new.txt`), 'new');
  });

  test("a filter that existed when the repository was opened works without the user's secrets", async () => {
    fixture.git('config', 'filter.upper.clean', `sh -c 'env > "${ran}"; tr a-z A-Z'`);
    repository = valueOf(
      await fixture
        .adapter({ environment: { ...fixture.environment, DEPLOY_PASS: secret } })
        .open(fixture.root),
    );
    write('.gitattributes', 'up.txt filter=upper\n');
    write('up.txt', 'loud\n');
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(fixture.git('show', `${done.commit}:up.txt`), 'LOUD');
    assert.doesNotMatch(readFileSync(ran, 'utf8'), new RegExp(secret));
  });

  test('a program called git in a relative folder of the path does not run', async () => {
    write('bin/git', `#!/bin/sh\nenv > "${ran}"\nexec /usr/bin/git "$@"\n`);
    execFileSync('chmod', ['+x', join(task.path, 'bin/git')]);
    const environment = {
      ...fixture.environment,
      PATH: `./bin::bin:${fixture.environment['PATH'] ?? ''}`,
    };
    repository = valueOf(await fixture.adapter({ environment }).open(fixture.root));
    await allLooks();
    nothingRan();
  });

  test('the trash behind a link is left alone', async () => {
    const documents = join(fixture.home, 'Documents');
    fixture.write(join(documents, 'thesis.txt'), 'thesis\n');
    fixture.write(join(documents, 'draft-0123abcd', 'x'), 'x\n');
    removeFolder(join(fixture.slots, '.drover-trash'));
    symlinkSync(documents, join(fixture.slots, '.drover-trash'));
    const adapter = fixture.adapter();
    repository = valueOf(await adapter.open(fixture.root));
    await startTask(fixture, repository, 's1', 'task-2');
    valueOf(await repository.removeWorktree({ path: task.path, label: 'x', force: true }));
    await adapter.settled();
    assert.equal(existsSync(join(documents, 'thesis.txt')), true);
    assert.equal(existsSync(join(documents, 'draft-0123abcd', 'x')), true);
    assert.equal(existsSync(task.path), false);
  });

  test('entries of the trash that Drover did not create stay', async () => {
    fixture.write(join(fixture.slots, '.drover-trash', 'thesis.txt'), 'thesis\n');
    const adapter = fixture.adapter();
    repository = valueOf(await adapter.open(fixture.root));
    await startTask(fixture, repository, 's1', 'task-2');
    await adapter.settled();
    assert.equal(existsSync(join(fixture.slots, '.drover-trash', 'thesis.txt')), true);
  });

  test('each overridden setting has its effect', () => {
    const trusted = new Map([
      ['filter.lfs.clean', ['git-lfs clean -- %f']],
      ['user.name', ['A']],
      ['credential.helper', ['store']],
      ['credential.https://host.helper', ['', 'own']],
      ['hook.lint.command', ['lint']],
    ]);
    const check = (key: string, values: readonly string[], expected: readonly string[]): void => {
      const { args } = buildOverrules(trusted, new Map([...trusted, [key, values]]));
      assert.deepEqual(args, expected, key);
    };
    check('filter.lfs.clean', ['git-lfs clean -- %f'], []);
    check('filter.lfs.clean', ['evil'], ['-c', 'filter.lfs.clean=git-lfs clean -- %f']);
    for (const [key, value] of [
      ['filter.x.clean', ''],
      ['filter.x.smudge', ''],
      ['filter.x.process', ''],
      ['filter.x.required', 'false'],
      ['merge.x.driver', 'false'],
      ['diff.x.textconv', ''],
      ['diff.x.command', ''],
      ['diff.external', ''],
      ['core.sshcommand', ''],
      ['core.gitproxy', ''],
      ['core.askpass', ''],
      ['core.alternaterefscommand', ''],
      ['core.attributesfile', ''],
      ['core.editor', ''],
      ['core.pager', ''],
      ['sequence.editor', ''],
      ['gpg.program', ''],
      ['gpg.ssh.program', ''],
      ['gpg.ssh.defaultkeycommand', ''],
      ['remote.o.promisor', 'false'],
      ['remote.o.uploadpack', ''],
      ['remote.o.receivepack', ''],
      ['remote.o.vcs', ''],
      ['remote.o.proxy', ''],
      ['extensions.partialclone', ''],
      ['protocol.ext.allow', 'never'],
      ['protocol.allow', 'never'],
      ['trailer.x.cmd', ''],
      ['submodule.x.update', 'none'],
      ['uploadpack.packobjectshook', ''],
      ['gc.recentobjectshook', ''],
    ] as const)
      check(key, ['evil'], ['-c', `${key}=${value}`]);
    check('filter.x\ny.clean', ['evil'], ['-c', 'filter.x\ny.clean=']);
    const again = ['-c', 'credential.helper=', '-c', 'credential.helper=store'];
    const own = [
      '-c',
      'credential.https://host.helper=',
      '-c',
      'credential.https://host.helper=own',
    ];
    // Git tries each of them, so one before the trusted one matters too.
    check('credential.helper', ['evil', 'store'], [...again, ...own]);
    check('credential.https://x.helper', ['evil'], [...again, ...own]);
    check('hook.x.command', ['evil'], ['-c', 'hook.x.enabled=false']);
    check('user.name', ['B'], []);
    check('color.ui', ['always'], []);
  });

  test('hooks from the configuration do not run if hooks from the folder do not', () => {
    const trusted = new Map([['hook.lint.command', ['lint']]]);
    const { args, withoutHooks } = buildOverrules(trusted, trusted);
    assert.deepEqual([args, withoutHooks], [[], ['-c', 'hook.lint.enabled=false']]);
  });

  test('a changed address sends git nowhere: commands that contact a remote are refused', () => {
    const own = new Map([['remote.origin.url', ['https://host/x']]]);
    for (const key of [
      'url./tmp/evil/.insteadof',
      'remote.origin.url',
      'remote.origin.pushurl',
      'remote.origin.lfsurl',
      'lfs.url',
      'lfs.pushurl',
      'http.proxy',
      'http.https://host/.sslverify',
    ]) {
      const changed = new Map([...own, [key, ['https://evil/']]]);
      assert.equal(buildOverrules(own, changed).address, key);
      assert.equal(buildOverrules(changed, changed).address, null);
      assert.equal(buildOverrules(changed, own).address, key, 'back to less is a change as well');
    }
    for (const key of ['remote.mine.url', 'remote.origin.fetch', 'user.name', 'lfs.locksverify'])
      assert.equal(buildOverrules(own, new Map([...own, [key, ['x']]])).address, null, key);
  });
});
