// A disk that is full when a setup, an agent or a gate fails is not the task's fault, so no attempt
// is used. The disk itself determines this: a program's output proves nothing, because any program
// can print it.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { mountDisk } from './support/small-disk.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized } from '../tier.ts';

const noted = 'echo run >> ../../runs';
const diskBytes = 8 * 1024 * 1024;

/** Fills the disk of the worktrees the first time it runs, and prints nothing about it. */
const fillsOnce = `${noted}; [ -e ../../filled ] || { touch ../../filled; cat /dev/zero > ../filler 2> /dev/null; exit 1; }`;
/** Fails at first with the message of a full disk. */
const words = `${noted}; [ $(wc -l < ../../runs) -gt 2 ] || { printf "cp: error writing lib: No space %s on device\\n" left >&2; exit 1; }`;

type Part = 'setup' | 'agent' | 'gate';

suite('a full disk', function () {
  this.timeout(120_000);
  let unmount = (): void => undefined;
  teardown(() => {
    unmount();
    unmount = () => undefined;
  });
  const project = useProjects();

  const projectWhose = (part: Part, command: string): Project => {
    const own = part === 'agent' ? '' : `[${part}]\ncommand = '''${command}'''\n`;
    const settings = `[machine]\nmin_free_disk = "0"\n${own}`;
    const agent = part === 'agent' ? `${command}\n${writesOneFile}` : writesOneFile;
    return project({ settings, agent });
  };
  const runs = (here: Project): number => here.read('runs').trim().split('\n').length;

  for (const part of ['setup', 'agent', 'gate'] as const) {
    test(`a full disk that fails ${part === 'agent' ? 'an' : 'a'} ${part} uses no attempt, and the work lands later`, async () => {
      const here = projectWhose(part, fillsOnce);
      const worktrees = join(here.folder, 'repo.worktrees');
      unmount = mountDisk(worktrees, diskBytes);
      await beginPlan(here, ['t1']);
      const running = here.start(['run']);
      const [retry] = await eventually('it is tried again', async () => {
        const found = (await here.events()).filter(({ type }) => type === 'task.retry');
        return found.length > 0 && found;
      });
      rmSync(join(worktrees, 'filler'));
      assert.equal((await running.ended).code, 0);
      assert.deepEqual(landedTasks(here), ['t1']);
      assert.equal((await here.task('t1')).attempts, 0);
      assert.equal(retry?.data['kind'], 'disk_full');
      assert.match(String(retry?.data['error']), /^The disk of .*repo\.worktrees is full: /);
      assert.ok(runs(here) >= 2);
    });
  }

  for (const part of sized(['agent'] as const, ['agent', 'gate'] as const)) {
    test(`${part === 'agent' ? 'an' : 'a'} ${part} that only prints that the disk is full uses attempts like any failure`, async () => {
      const here = projectWhose(part, words);
      await beginPlan(here, ['t1']);
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), ['t1']);
      const attempts = (await here.task('t1')).attempts;
      assert.equal(attempts, part === 'agent' ? 2 : 1);
    });
  }

  test('a setup that only prints that the disk is full blocks the task like any failure', async () => {
    const here = projectWhose('setup', words);
    await beginPlan(here, ['t1']);
    await here.drover(['run']);
    assert.equal((await here.task('t1')).status, 'blocked');
    assert.equal(runs(here), 1);
  });
});
