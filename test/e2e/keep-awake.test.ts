// The machine stays awake as long as an agent works, and may sleep afterwards, even if the backend
// is killed. A double of systemd-inhibit replaces logind, which test machines lack.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { isProcessAlive } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

suite('keeping the machine awake', function () {
  this.timeout(120_000);
  const project = useProjects();

  /**
   * A project whose agent waits, and the file to which the inhibitor writes its process and its
   * arguments.
   */
  function begin(settings: string): { here: Project; held: string; open: () => void } {
    const here = project({ settings });
    const barrier = makeBarrier(here.folder, 'agent-may-end');
    const held = join(here.folder, 'held');
    const bin = join(here.folder, 'bin');
    mkdirSync(bin);
    const double = join(bin, 'systemd-inhibit');
    writeFileSync(
      double,
      `#!/bin/sh\necho "$$ $*" > '${held}'\nwhile [ "$1" != cat ]; do shift; done\nexec "$@"\n`,
    );
    chmodSync(double, 0o755);
    writeFileSync(
      here.env['DROVER_AGENT_PATH'] ?? '',
      `#!/bin/sh\n${barrier.wait}\necho work > work.txt\n`,
    );
    return { here, held, open: () => barrier.open() };
  }

  async function run(here: Project): Promise<ReturnType<Project['start']>> {
    await beginPlan(here, ['t1']);
    const path = `${join(here.folder, 'bin')}:${here.env['PATH']}`;
    return here.start(['run'], { env: { PATH: path } });
  }

  function holderIn(held: string): { pid: number; words: string } | null {
    const text = existsSync(held) ? readFileSync(held, 'utf8') : '';
    if (!text.endsWith('\n')) return null;
    const [pid, ...words] = text.trim().split(' ');
    return { pid: Number(pid), words: words.join(' ') };
  }

  test('sleep is inhibited while an agent works, and allowed when the backend is killed', async () => {
    const { here, held, open } = begin('');
    const running = await run(here);
    const holder = await eventually('the holder', () => holderIn(held));
    assert.match(holder.words, /--what=sleep:idle --who=Drover/u);
    assert.ok(isProcessAlive(holder.pid));
    await here.killBackend();
    await eventually('the holder ends', () => !isProcessAlive(holder.pid));
    open();
    await running.ended;
  });

  test('sleep is allowed when the work is done and the backend is still running', async () => {
    const { here, held, open } = begin('');
    const running = await run(here);
    const holder = await eventually('the holder', () => holderIn(held));
    open();
    assert.equal((await running.ended).code, 0);
    await eventually('the holder ends', () => !isProcessAlive(holder.pid));
    assert.notEqual(here.backendPid(), null);
  });

  test('a person can turn it off', async () => {
    const { here, held, open } = begin('[run]\nkeep_awake = false\n');
    const running = await run(here);
    await eventually('the agent works', async () => (await here.status()).counts.in_progress === 1);
    open();
    assert.equal((await running.ended).code, 0);
    assert.equal(holderIn(held), null);
  });
});
