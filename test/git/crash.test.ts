// A backend that is killed anywhere leaves slots that the next one can use, and loses no commit.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { kindOf, makeFixture, valueOf, type Fixture } from './fixture.ts';
import { sized } from '../tier.ts';

/** Number of lines that it has written when it is killed. */
const moments = sized([1, 4, 7, 13, 23, 40], [1, 2, 4, 5, 7, 11, 13, 17, 23, 29, 31, 40]);

suite('git: killed and restarted', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  /** Runs the worker, kills it at its n-th line, and returns the commit that it reported. */
  async function runUntil(lines: number): Promise<{ commit: string; branch: string }[]> {
    const worker = spawn(
      process.execPath,
      [join(import.meta.dirname, 'crash-worker.ts'), fixture.root, fixture.slots, fixture.home],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] ?? '' } },
    );
    const committed: { commit: string; branch: string }[] = [];
    let seen = 0;
    const exited = once(worker, 'exit');
    for await (const line of createInterface({ input: worker.stdout })) {
      const [word, commit = '', branch = ''] = line.split(' ');
      if (word === 'committed') committed.push({ commit, branch });
      seen += 1;
      if (seen === lines) worker.kill('SIGKILL');
    }
    const [, signal] = (await exited) as [number | null, string | null];
    assert.equal(signal, 'SIGKILL');
    return committed;
  }

  test(`git is killed at ${moments.length} different times`, async () => {
    const base = fixture.git('rev-parse', 'main');
    for (const lines of moments) {
      const committed = await runUntil(lines);
      // Git processes of the killed worker continue for a while, so their locks are not stale.
      const patience = { lockPatienceMs: 3_000, staleLockMs: 30_000 };
      const repository = await fixture.open({ durable: false, ...patience });
      for (const { commit, branch } of committed) {
        assert.equal(await repository.readRef(`refs/heads/${branch}`), commit);
      }
      for (const slot of ['c0', 'c1', 'c2', 'c3']) {
        const branch = `drover/after-${lines}-${slot}/1`;
        const path = fixture.slot(slot);
        const prepared = await repository.prepareSlot({
          path,
          branch,
          sha: base,
          keepBranch: false,
          dropIgnored: false,
          sparse: null,
          use: 'task',
        });
        assert.equal(kindOf(prepared), 'ok', prepared.ok ? '' : prepared.error.message);
        assert.equal(fixture.gitIn(path, 'status', '--porcelain', '--branch'), `## ${branch}`);
      }
      assert.equal(
        valueOf(await repository.listWorktrees()).filter(({ prunable }) => prunable).length,
        0,
      );
    }
    fixture.git('fsck', '--no-dangling');
  });

  test('two independent processes create worktrees at the same time', async () => {
    const base = fixture.git('rev-parse', 'main');
    const repositories = await Promise.all(
      [1, 2, 3].map(() => fixture.open({ lockPatienceMs: 3_000 })),
    );
    const made = await Promise.all(
      repositories.flatMap((repository, process) =>
        Array.from({ length: 12 }, (_, index) =>
          repository.prepareSlot({
            path: fixture.slot(`p${process}-${index}`),
            branch: `drover/p${process}-${index}/1`,
            sha: base,
            keepBranch: false,
            dropIgnored: false,
            sparse: null,
            use: 'task',
          }),
        ),
      ),
    );
    assert.deepEqual(
      made.map((each) => (each.ok ? 'ok' : each.error.message)),
      made.map(() => 'ok'),
    );
  });
});
