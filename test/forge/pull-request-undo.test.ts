// `drover undo` of an epic that was merged on the forge: its revert becomes a pull request there.

import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { soakTest } from '../tier.ts';
import { slug, usePulls } from './support/pulls.ts';

suite('undo of a merged pull request', function () {
  this.timeout(180_000);
  const pulls = usePulls();
  const { opened, pull, merge } = pulls;

  const merged = async (how: 'merge' | 'squash'): Promise<Project> => {
    const here = await opened();
    merge(how);
    await here.epicLanded();
    await eventually('main follows', () => {
      return here.git('rev-parse', 'main') === pulls.fake.git.tip(slug, 'main');
    });
    return here;
  };
  const undoIsReady = (): Promise<true> =>
    eventually('the revert is ready', () => pulls.fake.pulls[1]?.isDraft === false);

  for (const how of ['merge', 'squash'] as const) {
    const add = how === 'merge' ? test : soakTest;
    add(
      `opens a pull request with the revert of a ${how}, and ends when it is merged`,
      async () => {
        const here = await merged(how);
        const before = here.git('rev-parse', 'main');
        pulls.fake.git.commit(slug, 'main', 'other.txt', 'by a person\n');
        const one = await here.drover(['undo', 't2']);
        assert.equal(one.code, 3);
        assert.match(one.stderr, /was merged by PR #41.*drover undo E1/u);
        const text = await here.expect(0, ['undo', 'E1']);
        assert.match(text, /goes to the forge as a pull request/u);
        await undoIsReady();
        assert.equal(here.git('rev-parse', 'main'), before, 'nothing lands here');
        const revert = pull(42);
        assert.match(revert.head, /^drover\/undo-E1-/u);
        assert.equal(revert.title, 'Undo E1: Sell <b>shoes</b> to @everyone');
        assert.match(revert.body, /Reverts #41/u);
        const head = pulls.fake.git.tip(slug, revert.head) ?? '';
        const files = pulls.fake.git.git(slug, 'ls-tree', '--name-only', head).split('\n');
        assert.deepEqual(files.includes('t2.txt'), false);
        assert.deepEqual(files.includes('other.txt'), true);
        const again = await here.drover(['undo', 'E1']);
        assert.equal(again.code, 3);
        assert.match(again.stderr, /PR #42 already reverts E1/u);
        merge('merge', 42);
        await eventually('the epic is open again', async () => {
          return (await here.status()).epics[0]?.landing_state === null;
        });
        const { tasks } = await here.status();
        assert.deepEqual(
          tasks.map(({ status }) => status),
          ['paused', 'paused'],
        );
        await eventually('main follows', () => {
          return here.git('rev-parse', 'main') === pulls.fake.git.tip(slug, 'main');
        });
        assert.equal(pulls.fake.pulls.length, 2);
      },
    );
  }

  soakTest(
    'an undo that is closed leaves the epic landed, and can be requested again',
    async () => {
      const here = await merged('merge');
      await here.expect(0, ['undo', 'E1']);
      await undoIsReady();
      Object.assign(pull(42), {
        state: 'closed',
        lastHead: pulls.fake.git.tip(slug, pull(42).head),
      });
      await eventually('it is over', async () =>
        (await here.expect(0, ['pr', 'E1'])).includes('closed'),
      );
      assert.equal((await here.status()).epics[0]?.landing_state, 'landed');
      pulls.fake.git.commit(slug, 'main', 'other.txt', 'by a person\n');
      await here.expect(0, ['undo', 'E1']);
      await eventually('another is ready', () => pulls.fake.pulls[2]?.isDraft === false);
    },
  );

  soakTest(
    'an undo of a rebased pull request is refused, and the message names the button that reverts it',
    async () => {
      const here = await opened();
      const head = pulls.fake.git.tip(slug, 'drover/E1');
      pulls.fake.git.commit(slug, 'main', 'gh-2.txt', 'work of gh-2\n');
      const mergeCommit = pulls.fake.git.commit(slug, 'main', 't2.txt', 'work of t2\n');
      Object.assign(pull(), { state: 'closed', lastHead: head, mergeCommit });
      await here.epicLanded();
      const refused = await here.drover(['undo', 'E1']);
      assert.equal(refused.code, 3);
      assert.match(
        refused.stderr,
        /merged as several commits.*button "Revert" on the page of PR #41/u,
      );
      assert.equal(pulls.fake.pulls.length, 1);
    },
  );
});
