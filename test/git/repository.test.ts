// Opening repositories of every kind, and reading and moving refs in them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { kindOf, makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: repositories', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  test('they are found from a subfolder, a link and a linked worktree', async () => {
    const linked = join(fixture.home, 'linked');
    fixture.git('worktree', 'add', '-q', '--detach', linked);
    const link = join(fixture.home, 'link');
    symlinkSync(fixture.root, link);
    const adapter = fixture.adapter();
    const opened: GitRepository[] = [];
    for (const path of [
      fixture.root,
      join(fixture.root, 'src'),
      linked,
      link,
      join(fixture.root, 'README.md'),
    ]) {
      opened.push(valueOf(await adapter.open(path)));
    }
    for (const repository of opened) {
      assert.deepEqual(repository.facts, {
        commonDir: join(fixture.root, '.git'),
        root: fixture.root,
        headBranch: 'main',
        headSha: fixture.git('rev-parse', 'HEAD'),
        hasSubmodules: false,
        usesLfs: false,
      });
    }
    assert.equal(new Set(opened).size, 1);
  });

  test('a detached HEAD, submodules and LFS are reported', async () => {
    const repository = await fixture.open();
    fixture.git('switch', '-q', '--detach');
    writeFileSync(join(fixture.root, '.gitmodules'), '');
    fixture.write(
      join(fixture.root, 'assets', '.gitattributes'),
      '*.psd filter=lfs diff=lfs merge=lfs -text\n',
    );
    fixture.git('add', '-A');
    const facts = valueOf(await repository.refresh());
    assert.deepEqual([facts.headBranch, facts.hasSubmodules, facts.usesLfs], [null, true, true]);
    assert.equal(repository.facts, facts);
  });

  test('a repository without a commit has no head', async () => {
    const empty = makeFixture({ commit: false });
    const { facts } = await empty.open();
    assert.deepEqual([facts.headBranch, facts.headSha], ['main', null]);
    empty.remove();
  });

  test('a folder without a repository, a bare repository and a missing folder are refused with a sentence', async () => {
    fixture.gitIn(fixture.home, 'init', '-q', '--bare', 'bare.git');
    mkdirSync(join(fixture.home, 'plain'));
    const adapter = fixture.adapter();
    for (const [name, sentence] of [
      ['plain', /not inside a git repository.*git init/],
      ['bare.git', /bare repository/],
      ['nowhere', /does not exist/],
    ] as const) {
      const refused = await adapter.open(join(fixture.home, name));
      assert.equal(kindOf(refused), 'not_a_repository');
      assert.match(refused.ok ? '' : refused.error.message, sentence);
    }
  });

  test('a bare repository with worktrees around it works from one of them', async () => {
    const bare = join(fixture.home, 'project', '.bare');
    fixture.gitIn(fixture.home, 'clone', '-q', '--bare', fixture.root, bare);
    const work = join(fixture.home, 'project', 'work');
    fixture.gitIn(bare, 'worktree', 'add', '-q', work, 'main');
    const repository = valueOf(await fixture.adapter().open(work));
    assert.equal(repository.facts.root, work);
    assert.equal(repository.facts.headBranch, 'main');
    const slot = {
      path: fixture.slot('b0'),
      branch: 'drover/b/1',
      keepBranch: false,
      dropIgnored: false,
      sparse: null,
      use: 'task',
    } as const;
    valueOf(await repository.prepareSlot({ ...slot, sha: repository.facts.headSha ?? '' }));
    fixture.write(join(slot.path, 'x.txt'), 'x');
    const done = valueOf(
      await repository.commitLeftovers({
        ...slot,
        base: repository.facts.headSha ?? '',
        subject: 's',
        trailers: [],
        maxFileSize: 1000,
        runHooks: false,
        signature: null,
      }),
    );
    assert.deepEqual(
      valueOf(await repository.follow('main', done.commit, 'fast-forward')).kind,
      'followed',
    );
    assert.equal(existsSync(join(work, 'x.txt')), true);
  });

  test('a separate git folder is supported', async () => {
    const apart = join(fixture.home, 'apart');
    fixture.gitIn(
      fixture.home,
      'clone',
      '-q',
      '--separate-git-dir',
      join(fixture.home, 'store.git'),
      fixture.root,
      apart,
    );
    const repository = valueOf(await fixture.adapter().open(apart));
    assert.deepEqual(
      [repository.facts.root, repository.facts.commonDir],
      [apart, join(fixture.home, 'store.git')],
    );
  });

  test('an old git and a missing git are refused with the remedy', async () => {
    const old = join(fixture.home, 'old-git');
    writeFileSync(old, '#!/bin/sh\necho git version 2.30.1\n', { mode: 0o755 });
    const refused = await fixture.adapter({ binary: old }).open(fixture.root);
    assert.match(
      refused.ok ? '' : refused.error.message,
      /Git 2\.30\.1 is too old.*2\.38.*Install/,
    );
    const missing = await fixture.adapter({ binary: '/nonexistent/git' }).version();
    assert.match(missing.ok ? '' : missing.error.message, /could not be started.*install git/);
    assert.match(valueOf(await fixture.adapter().version()), /^\d+\.\d+/);
  });

  test('variables of a hook do not redirect Drover', async () => {
    const other = makeFixture();
    const repository = await fixture.open({
      environment: {
        ...fixture.environment,
        GIT_DIR: join(other.root, '.git'),
        GIT_WORK_TREE: other.root,
        GIT_INDEX_FILE: join(other.root, '.git', 'index'),
        GIT_OBJECT_DIRECTORY: join(other.root, '.git', 'objects'),
        GIT_CONFIG_PARAMETERS: "'core.bare=true'",
      },
    });
    assert.equal(repository.facts.root, fixture.root);
    other.remove();
  });

  test('a git that answers endlessly or never is stopped', async () => {
    const script = join(fixture.home, 'odd-git');
    const odd = join(fixture.home, 'odd');
    const git = execFileSync('sh', ['-c', 'command -v git']).toString().trim();
    writeFileSync(
      script,
      `#!/bin/sh\n[ ! -e '${odd}' ] || exec $(cat '${odd}')\nexec ${git} "$@"\n`,
      { mode: 0o755 },
    );
    const repository = await fixture.open({
      binary: script,
      maxOutputBytes: 100_000,
      timeoutMs: 5_000, // also of each process that opens the repository
    });
    const head = repository.facts.headSha ?? '';
    writeFileSync(odd, 'yes');
    assert.equal(valueOf(await repository.diff(head, head)).length, 100_000);
    const refused = await repository.changedPaths(head, head);
    assert.match(refused.ok ? '' : refused.error.message, /too long/);
    writeFileSync(odd, 'sleep 60');
    const slow = await repository.lineCommits(head, head, 1);
    assert.match(slow.ok ? '' : slow.error.message, /took too long/);
  });
});

for (const packed of [false, true]) {
  suite(`git: refs, ${packed ? 'packed' : 'loose'}`, () => {
    let fixture: Fixture;
    let repository: GitRepository;
    let first: string;
    let second: string;
    setup(async () => {
      fixture = makeFixture();
      first = fixture.git('rev-parse', 'HEAD');
      fixture.write(join(fixture.root, 'README.md'), 'second\n');
      fixture.git('commit', '-qam', 'second');
      second = fixture.git('rev-parse', 'HEAD');
      fixture.git('tag', '-a', 'v1', '-m', 'v1');
      fixture.git('branch', 'side', first);
      if (packed) {
        fixture.git('pack-refs', '--all');
        fixture.git('gc', '-q');
      }
      repository = await fixture.open();
    });
    teardown(() => fixture.remove());

    test('they are read correctly even if they move or are packed at the same time', async () => {
      assert.equal(await repository.readRef('refs/heads/main'), second);
      assert.equal(await repository.readRef('refs/heads/nowhere'), null);
      fixture.git('update-ref', 'refs/heads/main', first);
      assert.equal(await repository.readRef('refs/heads/main'), first);
      fixture.git('pack-refs', '--all');
      assert.equal(await repository.readRef('refs/heads/main'), first);
      fixture.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/side');
      assert.equal(await repository.readRef('refs/heads/alias'), first);
      for (const odd of [
        'refs/../config',
        'HEAD',
        '../x',
        'refs/heads/a..b',
        'refs/heads/x.lock',
      ]) {
        assert.equal(await repository.readRef(odd), null);
      }
    });

    test('revisions are resolved, and unknown ones are reported', async () => {
      assert.equal(valueOf(await repository.resolve('v1')), second);
      assert.equal(valueOf(await repository.resolve('main~1')), first);
      for (const odd of ['nowhere', '', '--all', '-h', '1'.repeat(40), 'main:README.md']) {
        assert.equal(kindOf(await repository.resolve(odd)), 'unknown_ref', odd);
      }
    });

    test('they move by compare-and-swap', async () => {
      const ref = 'refs/heads/side';
      assert.equal(kindOf(await repository.updateRef(ref, second, second, 'x')), 'stale');
      assert.equal(kindOf(await repository.updateRef(ref, second, null, 'x')), 'stale');
      assert.equal(kindOf(await repository.updateRef(ref, second, first, 'why\nnot')), 'ok');
      assert.equal(kindOf(await repository.updateRef(ref, second, first, 'again')), 'ok');
      assert.equal(kindOf(await repository.updateRef('refs/drover/new', first, null, 'x')), 'ok');
      assert.equal(kindOf(await repository.updateRef('refs/drover/new', first, null, 'x')), 'ok');
      assert.equal(fixture.git('rev-parse', ref, 'refs/drover/new'), `${second}\n${first}`);
    });

    test('several refs move together or not at all', async () => {
      const change = (ref: string, next: string | null, old: string | null) => ({
        ref: `refs/heads/${ref}`,
        next,
        old,
      });
      assert.equal(
        kindOf(
          await repository.updateRefs(
            [change('a', first, null), change('side', null, second)],
            'x',
          ),
        ),
        'stale',
      );
      assert.equal(await repository.readRef('refs/heads/a'), null);
      const changes = [
        change('a', first, null),
        change('side', null, first),
        change('gone', null, null),
      ];
      assert.equal(kindOf(await repository.updateRefs(changes, 'x')), 'ok');
      assert.equal(kindOf(await repository.updateRefs(changes, 'again')), 'ok');
      assert.equal(
        fixture.git('for-each-ref', '--format=%(refname:short)', 'refs/heads'),
        'a\nmain',
      );
    });

    test('a lock that stays is reported', async () => {
      const lock = join(fixture.root, '.git', 'refs', 'heads', 'side.lock');
      writeFileSync(lock, '');
      const refused = await repository.updateRef('refs/heads/side', second, first, 'x');
      assert.equal(kindOf(refused), 'locked');
      assert.match(refused.ok ? '' : refused.error.message, /side\.lock/);
      const freed = setTimeout(() => rmSync(lock), 50);
      assert.equal(kindOf(await repository.updateRef('refs/heads/side', second, first, 'x')), 'ok');
      clearTimeout(freed);
    });

    test('a replaced commit has its original history, whoever reads it', async () => {
      fixture.git('replace', '--graft', second);
      assert.equal(fixture.git('rev-list', '--count', second), '1');
      assert.equal(await repository.isAncestor(first, second), true);
      assert.equal(await repository.mergeBase(first, second), first);
      const between = valueOf(await repository.lineCommits(first, second, 9, 'all'));
      assert.equal(between.length, 1);
      fixture.git('replace', '-d', second);
    });

    test('ancestry and trees are read', async () => {
      assert.equal(await repository.isAncestor(first, second), true);
      assert.equal(await repository.isAncestor(second, first), false);
      assert.equal(await repository.isAncestor(first, first), true);
      assert.equal(await repository.isAncestor('1'.repeat(40), first), false);
      fixture.git('switch', '-q', '-c', 'apart', first);
      fixture.git('commit', '-q', '--allow-empty', '-m', 'apart');
      const apart = fixture.git('rev-parse', 'HEAD');
      fixture.git('commit', '-q', '--allow-empty', '-m', 'further');
      fixture.git('switch', '-q', 'main');
      fixture.git('merge', '-q', '--no-ff', '--no-edit', 'apart');
      const merged = fixture.git('rev-parse', 'HEAD');
      for (let round = 0; round < 2; round += 1) {
        assert.equal(await repository.isAncestor(apart, merged), true);
        assert.equal(await repository.isAncestor(merged, apart), false);
        assert.equal(await repository.isAncestor(second, apart), false);
        assert.equal(await repository.isAncestor(first, merged), true);
      }
      assert.equal(await repository.isAncestor(apart, merged), true);
      assert.equal(await repository.isAncestor(second, apart), false);
      assert.equal(
        valueOf(await repository.treeOf(first)),
        fixture.git('rev-parse', `${first}^{tree}`),
      );
      assert.equal(kindOf(await repository.treeOf('1'.repeat(40))), 'unknown_ref');
    });

    test('the commits between two others are listed', async () => {
      fixture.git('config', 'diff.noprefix', 'true');
      fixture.git('config', 'color.ui', 'always');
      assert.match(
        valueOf(await repository.diff(first, second)),
        /^diff --git a\/README\.md b\/README\.md\n/,
      );
      assert.deepEqual(valueOf(await repository.changedPaths(first, second)), ['README.md']);
      const [only] = valueOf(await repository.lineCommits(first, second, 5, 'all'));
      assert.deepEqual([only?.sha, only?.subject], [second, 'second']);
      assert.deepEqual(valueOf(await repository.lineCommits(second, first, 5, 'all')), []);
      assert.equal(kindOf(await repository.diff('1'.repeat(40), second)), 'unknown_ref');
      assert.equal(readFileSync(join(fixture.root, 'README.md'), 'utf8'), 'second\n');
    });
  });
}
