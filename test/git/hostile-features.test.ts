// Git features that run programs or lead elsewhere, each planted in a place that an agent can
// write: in a repository in place of the worktree's .git file, or, without a sandbox, in the user's
// own configuration while Drover is running. The test first shows that each works with the user's
// git; Drover's git runs none of them.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { checkRemote } from '../../server/git/remote/check.ts';
import { removeFolder } from '../remove-folder.ts';
import { makeFleet, openMachine } from './remote-fixture.ts';
import {
  leftoversOf,
  makeFixture,
  snapshotRef,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

interface Feature {
  readonly name: string;
  /** Settings of the repository; `RUN` is a program that leaves a mark. */
  readonly config?: string;
  /** Files below the git folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly attributes?: string;
  /** Commands of the user's git that show the effect of the feature. */
  readonly person: readonly (readonly string[])[];
}

const onCommit = [
  ['add', '-A'],
  ['commit', '-qm', 'x'],
] as const;

const hooks = [
  'pre-commit',
  'post-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-index-change',
  'reference-transaction',
  'post-checkout',
].map((name): Feature => ({
  name: `hook ${name}`,
  files: { [`hooks/${name}`]: '#!/bin/sh\nRUN\nexit 0\n' },
  person: [...onCommit, ['checkout', '-q', '-b', 'other']],
}));

const features: readonly Feature[] = [
  ...hooks,
  {
    name: 'core.hooksPath',
    config: '[core]\n\thooksPath = evil-hooks\n',
    files: { '../evil-hooks/pre-commit': '#!/bin/sh\nRUN\n' },
    person: onCommit,
  },
  { name: 'core.fsmonitor', config: '[core]\n\tfsmonitor = RUN\n', person: [['status']] },
  {
    name: 'include.path',
    config: '[include]\n\tpath = more.cfg\n',
    files: { 'more.cfg': '[core]\n\tfsmonitor = RUN\n' },
    person: [['status']],
  },
  {
    name: 'includeIf.path',
    config: '[includeIf "onbranch:**"]\n\tpath = more.cfg\n',
    files: { 'more.cfg': '[core]\n\tfsmonitor = RUN\n' },
    person: [['status']],
  },
  ...(['clean', 'process'] as const).map((kind): Feature => ({
    name: `filter.${kind}`,
    config: `[filter "x"]\n\t${kind} = RUN\n`,
    attributes: '* filter=x\n',
    person: [['add', '-A']],
  })),
  {
    name: 'filter.smudge',
    config: '[filter "x"]\n\tsmudge = RUN\n',
    attributes: '* filter=x\n',
    person: [...onCommit, ['rm', '-q', '--cached', 'README.md'], ['checkout', '-f', 'HEAD']],
  },
  {
    name: 'attributes beside the objects',
    config: '[filter "x"]\n\tclean = RUN\n',
    files: { 'info/attributes': '* filter=x\n' },
    person: [['add', '-A']],
  },
  {
    name: 'core.attributesFile',
    config: '[core]\n\tattributesFile = .git/attr\n[filter "x"]\n\tclean = RUN\n',
    files: { attr: '* filter=x\n' },
    person: [['add', '-A']],
  },
  {
    name: 'diff.external',
    config: '[diff]\n\texternal = RUN\n',
    person: [
      ...onCommit,
      ['show', '--ext-diff', 'HEAD'],
      ['diff', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
    ],
  },
  {
    name: 'diff.textconv',
    config: '[diff "x"]\n\ttextconv = RUN\n',
    attributes: '* diff=x\n',
    person: [...onCommit, ['show', 'HEAD']],
  },
  {
    name: 'diff.command',
    config: '[diff "x"]\n\tcommand = RUN\n',
    attributes: '* diff=x\n',
    person: [...onCommit, ['diff', '4b825dc642cb6eb9a060e54bf8d69288fbee4904']],
  },
  {
    name: 'merge.driver',
    config: '[merge "x"]\n\tdriver = RUN\n',
    attributes: '* merge=x\n',
    person: [
      ...onCommit,
      ['checkout', '-q', '-b', 'one'],
      ['config', 'user.name', 'x'],
      ['commit', '-q', '--allow-empty', '-m', 'e'],
    ],
  },
  {
    name: 'core.sshCommand',
    config: '[core]\n\tsshCommand = RUN\n[remote "o"]\n\turl = ssh://127.0.0.1:1/x\n',
    person: [['ls-remote', 'o']],
  },
  {
    name: 'credential.helper',
    config: '[credential]\n\thelper = !RUN\n',
    person: [['credential', 'fill']],
  },
  {
    name: 'url.insteadOf',
    config:
      '[url "ext::RUN "]\n\tinsteadOf = https://host/\n[remote "o"]\n\turl = https://host/x\n[protocol "ext"]\n\tallow = always\n',
    person: [['ls-remote', 'o']],
  },
  {
    name: 'remote.uploadpack',
    config: '[remote "o"]\n\turl = .\n\tuploadpack = RUN\n',
    person: [['ls-remote', 'o']],
  },
  {
    name: 'remote.vcs',
    config: '[remote "o"]\n\turl = ext::RUN\n\tvcs = ext\n[protocol "ext"]\n\tallow = always\n',
    person: [['ls-remote', 'o']],
  },
  {
    name: 'a promisor',
    config:
      '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = ext::RUN\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n',
    person: [['cat-file', '-e', '1'.repeat(40)]],
  },
  {
    name: 'gpg.program',
    config: '[gpg]\n\tprogram = RUN\n[commit]\n\tgpgSign = true\n',
    person: onCommit,
  },
  {
    name: 'trailer.cmd',
    config: '[trailer "x"]\n\tkey = x\n\tcmd = RUN\n',
    person: [['interpret-trailers', '--trailer', 'x=y', 'README.md']],
  },
];

suite('git: features that run programs', function () {
  this.timeout(120_000);
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  let ran: string;
  let program: string;
  setup(async () => {
    fixture = makeFixture();
    ran = join(fixture.home, 'ran.txt');
    // A path without spaces, because some of these settings are split at spaces.
    program = join(mkdtempSync(join(tmpdir(), 'evil-')), 'evil.sh');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${ran}'\nexit 0\n`, { mode: 0o755 });
    repository = valueOf(await fixture.adapter().open(fixture.root));
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => {
    removeFolder(join(program, '..'));
    fixture.remove();
  });

  const write = (path: string, text: string): void => {
    fixture.write(path, text.replaceAll('RUN', program));
    if (path.includes('hooks/')) execFileSync('chmod', ['+x', path]);
  };
  const plant = (
    gitFolder: string,
    folder: string,
    { config, files, attributes }: Feature,
  ): void => {
    appendFileSync(join(gitFolder, 'config'), (config ?? '').replaceAll('RUN', program));
    for (const [name, text] of Object.entries(files ?? {})) write(join(gitFolder, name), text);
    if (attributes !== undefined) write(join(folder, '.gitattributes'), attributes);
    write(join(folder, 'new.txt'), 'new\n');
  };
  /** Every check of a slot by Drover, a landing of its work, and the slot's next task. */
  const allLooks = async (): Promise<void> => {
    await repository.status(task.path);
    await snapshotRef(repository, task.path, 'task-1/1');
    const left = await repository.commitLeftovers(leftoversOf(task));
    const tip = fixture.git('rev-parse', 'main');
    if (left.ok) {
      const { commit } = left.value;
      await repository.changedFiles(tip, commit);
      await repository.diff(tip, commit);
      await repository.merge({ tip, commit, subject: 'land', trailers: [] });
    }
    await startTask(fixture, repository, 's0', 'task-2');
    await repository.removeWorktree({ path: task.path, label: 'x', force: true });
  };
  const hasRun = (): boolean => existsSync(ran);
  const asPerson = (folder: string, { person }: Feature): void => {
    for (const args of person) {
      spawnSync('git', args, {
        cwd: folder,
        env: { ...fixture.environment, GIT_TERMINAL_PROMPT: '0' },
        input: 'protocol=https\nhost=host\n\n',
        timeout: 20_000,
      });
      if (hasRun()) return;
    }
  };

  for (const feature of features) {
    const { name } = feature;
    test(`${name}: git does not use one from a repository that an agent created in its worktree`, async () => {
      rmSync(join(task.path, '.git'));
      fixture.gitIn(task.path, 'init', '-q', '-b', 'main', '.');
      for (const [key, value] of [
        ['user.name', 'x'],
        ['user.email', 'x@y'],
      ])
        fixture.gitIn(task.path, 'config', key ?? '', value ?? '');
      plant(join(task.path, '.git'), task.path, feature);
      if (name !== 'merge.driver') {
        asPerson(task.path, feature);
        assert.equal(hasRun(), true, 'the person’s git runs it');
        rmSync(ran);
      }
      await allLooks();
      assert.equal(hasRun(), false);
    });

    test(`${name}: git does not use one from configuration that changed while Drover runs`, async () => {
      plant(join(fixture.root, '.git'), task.path, feature);
      await allLooks();
      assert.equal(hasRun(), false);
    });
  }

  test('included settings apply without changes made to them while Drover runs', async () => {
    const included = join(fixture.root, '.git', 'more.cfg');
    appendFileSync(join(fixture.root, '.git', 'config'), '[include]\n\tpath = more.cfg\n');
    writeFileSync(included, '[color]\n\tui = never\n');
    repository = valueOf(await fixture.adapter().open(fixture.root));
    await repository.status(task.path);
    write(included, '[filter "x"]\n\tclean = RUN\n');
    write(join(task.path, '.gitattributes'), '* filter=x\n');
    write(join(task.path, 'new.txt'), 'new\n');
    await allLooks();
    assert.equal(hasRun(), false);
  });

  test('settings of a worktree apply without their includes and later changes to those', async () => {
    fixture.git('config', 'extensions.worktreeConfig', 'true');
    repository = valueOf(await fixture.adapter().open(fixture.root));
    const own = join(fixture.root, '.git', 'worktrees', 's0', 'config.worktree');
    const included = join(fixture.home, 'more.cfg');
    writeFileSync(own, `[include]\n\tpath = "${included}"\n`);
    await repository.status(task.path);
    write(included, '[filter "x"]\n\tclean = RUN\n');
    write(join(task.path, '.gitattributes'), '* filter=x\n');
    write(join(task.path, 'new.txt'), 'new\n');
    fixture.gitIn(task.path, 'add', 'new.txt');
    assert.equal(hasRun(), true, 'the person’s git runs it');
    rmSync(ran);
    fixture.gitIn(task.path, 'reset', '-q');
    rmSync(ran, { force: true });
    await allLooks();
    assert.equal(hasRun(), false);
  });

  test('a merge driver from configuration that changed while Drover runs is not used', async () => {
    write(join(fixture.root, '.gitattributes'), '* merge=x\n');
    write(join(fixture.root, 'both.txt'), 'one\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'both');
    const base = fixture.git('rev-parse', 'main');
    task = await startTask(fixture, repository, 's1', 'task-3');
    write(join(task.path, 'both.txt'), 'of the task\n');
    const { commit } = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    write(join(fixture.root, 'both.txt'), 'of the person\n');
    fixture.git('commit', '-qam', 'person');
    const tip = fixture.git('rev-parse', 'main');
    appendFileSync(join(fixture.root, '.git', 'config'), `[merge "x"]\n\tdriver = ${program}\n`);
    spawnSync('git', ['merge-tree', '--write-tree', tip, commit], {
      cwd: fixture.root,
      env: fixture.environment,
    });
    assert.equal(hasRun(), true, 'the person’s git runs it');
    rmSync(ran);
    await repository.merge({ tip, commit, subject: 'land', trailers: [] });
    assert.equal(hasRun(), false);
    assert.notEqual(base, tip);
  });

  const places: Readonly<Record<string, (evil: string, url: string) => readonly string[]>> = {
    'the address of the remote': (evil) => ['--local', 'remote.origin.url', evil],
    'an address to push to': (evil) => ['--local', 'remote.origin.pushurl', evil],
    'one in the settings of the checkout alone': (evil) => [
      '--worktree',
      'remote.origin.pushurl',
      evil,
    ],
    'an address in place of another': (evil, url) => ['--local', `url.${evil}.insteadof`, url],
  };
  for (const [name, settingOf] of Object.entries(places))
    test(`${name} that changed while Drover runs: nothing is sent to it`, async () => {
      const fleet = await makeFleet('file');
      try {
        const clone = fleet.clone('one');
        clone.git('config', 'extensions.worktreeConfig', 'true');
        const one = await openMachine(fleet.fixture, clone, 'one');
        const evil = join(fleet.fixture.home, 'evil.git');
        mkdirSync(evil);
        fleet.fixture.gitIn(evil, 'init', '-q', '--bare', '.');
        write(join(evil, 'hooks', 'pre-receive'), '#!/bin/sh\nRUN\n');
        const [where = '', key = '', value = ''] = settingOf(evil, fleet.url);
        one.git('config', where, key, value);
        const base = one.git('rev-parse', 'main');
        const moved = await one.shared.updateRef('refs/drover/land/main', base, null, 'x');
        assert.equal(moved.ok, false);
        const message = moved.ok ? '' : moved.error.message;
        assert.ok(message.startsWith(`${key} was changed in git's configuration after`), message);
        const asked = { remote: 'origin', machineId: 'one', timeoutMs: 20_000 };
        assert.equal((await checkRemote(one.local, asked)).ok, false);
        assert.equal(hasRun(), false);
        one.git('push', '-q', 'origin', 'main:refs/heads/other');
        assert.equal(hasRun(), true, 'the person’s git runs it');
        one.git('config', where, '--unset', key);
        if (key === 'remote.origin.url') one.git('config', key, fleet.url);
        valueOf(await one.shared.updateRef('refs/drover/land/main', base, null, 'x'));
      } finally {
        await fleet.remove();
      }
    });

  test('a remote with another name that a person adds while Drover runs changes nothing', async () => {
    const fleet = await makeFleet('file');
    try {
      const one = await fleet.machine('one');
      one.git('remote', 'add', 'mine', join(fleet.fixture.home, 'mine.git'));
      const base = one.git('rev-parse', 'main');
      valueOf(await one.shared.updateRef('refs/drover/land/main', base, null, 'x'));
    } finally {
      await fleet.remove();
    }
  });

  test('grafts, replaced objects and borrowed objects do not change history for Drover', async () => {
    const tip = fixture.git('rev-parse', 'main');
    const tree = fixture.git('rev-parse', 'main^{tree}');
    write(join(task.path, 'bad.txt'), 'bad\n');
    fixture.gitIn(task.path, 'add', '-A');
    const other = fixture.gitIn(
      task.path,
      'commit-tree',
      '-m',
      'other',
      fixture.gitIn(task.path, 'write-tree'),
    );
    fixture.git('replace', tip, other);
    fixture.write(join(fixture.root, '.git', 'info', 'grafts'), `${tip} ${other}\n`);
    assert.notEqual(fixture.git('rev-parse', 'main^{tree}'), tree, 'the person’s git follows it');
    assert.equal(valueOf(await repository.treeOf(tip)), tree);
    assert.equal(await repository.isAncestor(other, tip), false);
  });
});
