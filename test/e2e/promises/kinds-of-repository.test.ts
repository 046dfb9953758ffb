// Work lands in repositories of every kind, and their special features stay unchanged.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';
import { landedTasks } from '../support/history.ts';
import { beginPlan } from '../support/plan.ts';
import type { Project } from '../support/project.ts';
import { useProjects } from '../support/suite-projects.ts';

const agent = `
cat > /dev/null
mkdir -p src
echo "work of $id" > "src/$id.txt"
`;

interface Kind {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly agent?: string;
  /** Turns the repository into one of this kind. */
  make(here: Project): void;
  /** After work has landed. */
  check(here: Project): void;
}

const kinds: Readonly<Record<string, Kind>> = {
  'with SHA-256': {
    make(here) {
      removeFolder(join(here.root, '.git'));
      here.git('init', '-q', '--object-format=sha256');
      here.git('add', '-A');
      here.git('commit', '-qm', 'first');
    },
    check(here) {
      assert.equal(here.git('rev-parse', 'main').length, 64);
    },
  },
  'with a sparse checkout': {
    files: { 'src/a.txt': 'a\n', 'far/b.txt': 'b\n' },
    settings: '[worktree]\nsparse = ["src"]\n',
    make(here) {
      here.git('sparse-checkout', 'set', '--cone', 'src');
    },
    check(here) {
      assert.equal(existsSync(join(here.root, 'far')), false);
      assert.equal(here.git('show', 'main:far/b.txt'), 'b');
    },
  },
  'with a submodule': {
    make(here) {
      const inner = join(here.folder, 'inner');
      here.git('clone', '-q', here.root, inner);
      here.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner');
      here.git('commit', '-qm', 'a submodule');
    },
    check(here) {
      assert.match(here.git('ls-tree', 'main', 'inner'), /^160000 commit /u);
      assert.equal(here.read('repo/inner/README.md'), 'A project.\n');
    },
  },
  'with contents that a filter keeps outside of git': {
    agent: `${agent}\necho "whole contents" > src/large.bin\n`,
    make(here) {
      here.git('config', '--global', 'filter.large.clean', 'sed s/^whole/pointer/');
      here.git('config', '--global', 'filter.large.smudge', 'sed s/^pointer/whole/');
      here.git('config', '--global', 'filter.large.required', 'true');
      here.write('repo/.gitattributes', '*.bin filter=large\n');
      here.git('add', '.gitattributes');
      here.git('commit', '-qm', 'large files');
    },
    check(here) {
      assert.equal(here.git('cat-file', '-p', 'main:src/large.bin'), 'pointer contents');
      assert.equal(here.read('repo/src/large.bin'), 'whole contents\n');
    },
  },
};

suite('promises: kinds of repositories', function () {
  this.timeout(180_000);
  const project = useProjects({ agent });

  for (const [name, kind] of Object.entries(kinds))
    test(`work lands in a repository ${name}`, async () => {
      const { files, settings, agent: made } = kind;
      const options = { files: files ?? {}, agent: made ?? agent };
      const here = project(settings === undefined ? options : { ...options, settings });
      kind.make(here);
      await beginPlan(here, ['t1', { id: 't2', blocked_by: ['t1'] }]);
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), ['t1', 't2']);
      assert.equal(here.read('repo/src/t2.txt'), 'work of t2\n');
      assert.equal(here.git('status', '--porcelain'), '');
      kind.check(here);
    });

  test('work lands in a worktree of a bare repository', async () => {
    const here = project();
    const [bare, cwd] = [join(here.folder, 'all.git'), join(here.folder, 'one')];
    here.gitIn(here.folder, 'clone', '-q', '--bare', 'repo', bare);
    here.gitIn(bare, 'worktree', 'add', '-q', cwd, 'main');
    await here.expect(0, ['-C', cwd, 'init']);
    here.write('one.jsonl', '{"id":"t1","type":"story","title":"One"}\n');
    await here.expect(0, ['-C', cwd, 'import', join(here.folder, 'one.jsonl')]);
    await here.expect(0, ['-C', cwd, 'run']);
    assert.equal(here.read('one/src/t1.txt'), 'work of t1\n');
    assert.equal(here.gitIn(cwd, 'status', '--porcelain', '--untracked-files=no'), '');
    await here.expect(0, ['-C', cwd, 'server', 'stop', '--force']);
  });
});
