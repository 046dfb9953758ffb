// Repositories that contain Drover's own files, cloned by an unsuspecting user: nothing of theirs
// runs or is written.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './support/project.ts';
import { importPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('clones that contain files of Drover', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });

  /** Clones `repo` to `clone` and moves `repo` away, because its author has it elsewhere. */
  const cloned = (here: Project): string => {
    here.gitIn(here.folder, 'clone', '-q', 'repo', 'clone');
    renameSync(here.root, join(here.folder, 'elsewhere'));
    return join(here.folder, 'clone');
  };
  const refusals = async (here: Project, cwd: string, commands: string): Promise<void> => {
    for (const command of commands.split(', ')) {
      const refused = await here.drover([...command.split(' '), '--json'], { cwd });
      assert.equal(refused.code, 3, `${command}\n${refused.stdout}${refused.stderr}`);
      assert.match(refused.stdout + refused.stderr, /Git tracks files of Drover's own in .*clone/);
    }
  };

  test('S12: a plan with a run to continue starts nothing, whatever the command', async () => {
    const here = project({ agent: 'cat > /dev/null; echo ran >> "$HOME/ran"; echo x > x.txt' });
    await here.expect(0, ['init']);
    await importPlan(here, ['t1']);
    await here.expect(0, ['run']);
    await here.expect(0, ['server', 'stop']);
    assert.match(here.read('home/ran'), /^ran\n$/);
    await importPlan(here, ['t2']);
    rmSync(join(here.root, '.drover', '.git'), { force: true });
    here.git('add', '-f', '.drover');
    here.git('commit', '-qm', 'with its plan');
    const clone = cloned(here);
    assert.ok(existsSync(join(clone, '.drover', 'drover.db')));
    await refusals(here, clone, 'status, init, add x, run, resume, pause t2');
    // Started as by an editor in a trusted window.
    const backend = join(import.meta.dirname, '..', '..', 'dist', 'backend.cjs');
    const started = spawnSync(process.execPath, ['--no-warnings', backend, clone], {
      env: { ...here.env },
      timeout: 60_000,
      encoding: 'utf8',
    });
    assert.notEqual(started.status, 0);
    assert.match(started.stdout + started.stderr, /Git tracks files of Drover's own/);
    assert.match(here.read('home/ran'), /^ran\n$/);
  });

  test('S13: Drover does not write through links in a folder that a clone contains', async () => {
    const here = project();
    here.write('home/.bashrc', 'precious\n');
    mkdirSync(join(here.folder, 'home', 'Documents'), { mode: 0o755 });
    assert.equal(
      here.sh(
        here.root,
        'mkdir .drover && cd .drover && ln -s ../../home/.bashrc backend.start.log && ln -s ../../home/.bashrc backend.log && ln -s ../../home/Documents logs && git add -f . && git commit -qm links',
      ),
      0,
    );
    const clone = cloned(here);
    for (const command of ['init', 'status', 'run', 'doctor']) {
      await here.drover([command], { cwd: clone });
    }
    assert.equal(readFileSync(join(here.folder, 'home', '.bashrc'), 'utf8'), 'precious\n');
    await refusals(here, clone, 'init');
    const documents = join(here.folder, 'home', 'Documents');
    assert.equal(here.sh(documents, 'test -z "$(ls -A)"'), 0);
  });

  test('S13: Drover does not write through a link in place of the whole folder', async () => {
    const here = project();
    const documents = join(here.folder, 'home', 'Documents');
    mkdirSync(documents, { mode: 0o755 });
    assert.equal(
      here.sh(
        here.root,
        'ln -s ../home/Documents .drover && git add -f .drover && git commit -qm link',
      ),
      0,
    );
    const clone = cloned(here);
    for (const command of ['init', 'status', 'run']) await here.drover([command], { cwd: clone });
    assert.equal(here.sh(documents, 'test -z "$(ls -A)"'), 0);
    assert.equal(statSync(documents).mode & 0o777, 0o755);
  });

  test('S20: only the user can read the files that Drover keeps', async () => {
    const here = project();
    assert.equal(here.sh(here.root, 'umask 022; mkdir -m 755 .drover .git/drover'), 0);
    await here.expect(0, ['init']);
    for (const folder of ['.drover', '.git/drover']) {
      assert.equal(statSync(join(here.root, folder)).mode & 0o077, 0, folder);
    }
  });
});
