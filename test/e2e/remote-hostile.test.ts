// A hostile worker in a whole project: its data changes only the work of its own task.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startStockWorker } from '../doubles/stock-worker.ts';
import { tarGzOf, type Entry } from '../workers/support/archives.ts';
import { landedTasks } from './support/history.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** In the order of the tasks. */
const archives: readonly (readonly Entry[])[] = [
  [
    { name: '.git/hooks/post-checkout', mode: 0o755, content: '#!/bin/sh\ntouch /tmp/owned\n' },
    { name: '.git/config', content: '[core]\n\tfsmonitor = touch /tmp/owned\n' },
    { name: 'sub/.GIT/config', content: 'x' },
    { name: '.drover/project.db', content: 'x' },
    { name: '.env', content: 'THEIRS=1\n' },
    { name: 'out', type: 'symlink', linkname: '../../../..' },
    { name: 'fine.txt', content: 'fine\n' },
    // Omits README.md, and sends a list that proves nothing.
    { name: '.drover-job/manifest.sha256', content: `${'0'.repeat(64)}  ./fine.txt\n` },
  ],
  [
    { name: 'before.txt', content: 'x' },
    { name: '../../../../escaped.txt', content: 'x' },
  ],
  [
    { name: 'door', type: 'symlink', linkname: '/tmp' },
    { name: 'door/escaped.txt', content: 'x' },
  ],
  Array.from({ length: 3 }, (_, n) => ({ name: `bomb${n}`, content: Buffer.alloc(15_000_000) })),
];

/** Everything in the project that no task may change. */
function guarded(here: Project): unknown {
  const files = ['config', 'HEAD'].map((name) =>
    readFileSync(join(here.root, '.git', name), 'utf8'),
  );
  return {
    files,
    hooks: readdirSync(join(here.root, '.git/hooks')),
    // Slots of attempts are beside the repository.
    outside: readdirSync(here.folder)
      .filter((name) => name !== 'repo.worktrees')
      .toSorted(),
    // A backend lists its project below `.local`.
    home: readdirSync(join(here.folder, 'home'))
      .filter((name) => name !== '.local')
      .toSorted(),
    status: here.git('status', '--porcelain'),
    branches: here.git('for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/tags'),
    env: readFileSync(join(here.root, '.env'), 'utf8'),
  };
}

suite('hostile workers of a project', function () {
  this.timeout(240_000);
  const project = useProjects();

  test('H11 of archives with .git, links, escaping names and bombs, only legitimate work lands, and nothing else changes', async () => {
    const here = project({
      files: { '.env': 'MINE=1\n' },
      env: { WORKER_TOKEN: 'token-of-the-worker' },
    });
    const workspace = join(here.folder, 'far');
    mkdirSync(workspace);
    const packed = await Promise.all(archives.map((entries) => tarGzOf(entries)));
    let count = 0;
    const worker = await startStockWorker({
      workspace,
      token: 'token-of-the-worker',
      archive: () => packed[count++] ?? Buffer.from('nothing'),
    });
    try {
      const settings = [
        'runs_on = "remote"',
        '[remote]',
        'provisioner = "static"',
        `url = "${worker.url}"`,
        'token_variable = "WORKER_TOKEN"',
        'agent_path = "/bin/cat"',
      ];
      here.write('repo/.drover.toml', `${settings.join('\n')}\n`);
      here.git('commit', '-qam', 'settings');
      await here.expect(0, ['init']);
      const ids: string[] = [];
      for (const title of ['Git', 'Names', 'Links', 'Bomb']) {
        ids.push(await here.add(title, '--max-attempts', '1'));
      }
      const before = guarded(here);
      await here.expect(1, ['run', '--workers', '1']);
      const [git = '', ...refused] = ids;
      assert.deepEqual(landedTasks(here), [git]);
      const names = here.git('ls-tree', '-r', '--name-only', 'main').split('\n');
      assert.deepEqual(names, ['.drover.toml', '.env', '.gitignore', 'README.md', 'fine.txt']);
      assert.equal(here.git('show', 'main:.env'), 'MINE=1');
      assert.match(await here.expect(0, ['log', git]), /a link out of the tree\): out/);
      for (const id of refused) {
        const task = await here.task(id);
        assert.equal(task.status, 'failed');
        assert.match(task.last_error ?? '', /The worker sent an unsafe archive/);
      }
      assert.equal(count, archives.length, 'a refused archive is not asked for again');
      assert.deepEqual(guarded(here), before);
      assert.ok(!existsSync(join(here.folder, '..', 'escaped.txt')));
      assert.ok(!existsSync('/tmp/owned') && !existsSync('/tmp/escaped.txt'));
    } finally {
      await worker.close();
    }
  });
});
