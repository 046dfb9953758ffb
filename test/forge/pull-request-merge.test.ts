// `[forge] merge`: GitHub merges the pull request automatically or through its queue, once the gate
// has passed on its newest base.

import assert from 'node:assert/strict';
import { mergePull } from '../doubles/fake-github/merging.ts';
import { reviewRule } from '../doubles/fake-github/rules.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { soakTest } from '../tier.ts';
import { slug, usePulls } from './support/pulls.ts';

suite('a pull request that GitHub merges', function () {
  this.timeout(180_000);
  const pulls = usePulls();
  const { opened, pull, noteOf } = pulls;
  const head = (): string => pulls.fake.git.tip(slug, 'drover/E1') ?? '';
  const says = (here: Parameters<typeof noteOf>[0], words: RegExp): Promise<true> =>
    eventually(`the epic says ${words}`, async () => words.test(await noteOf(here)));

  test('an automatic merge is requested once, with its head, and the epic is done when it is merged', async () => {
    pulls.fake.required.push('unit');
    const here = await opened('merge = "auto"\n');
    await says(here, /^PR #41 waits for 1 of 1 check; then GitHub merges it$/u);
    assert.equal(pull().isAuto, true);
    mergePull(pulls.fake, pull());
    await here.epicLanded();
    assert.deepEqual(pulls.fake.mergeRequests, ['auto 41']);
  });

  test('a pull request that waits for nothing is merged at once', async () => {
    const here = await opened('merge = "auto"\n');
    await here.epicLanded();
    assert.deepEqual(pulls.fake.mergeRequests, ['merge 41']);
    const [landed] = await here.events('--type', 'epic.landed');
    assert.equal(landed?.data['as_tested'], true);
  });

  test('a pull request into a linear history is squashed, and lands as tested', async () => {
    pulls.fake.rules.push({ type: 'required_linear_history' });
    const here = await opened('merge = "auto"\n');
    await here.epicLanded();
    const [landed] = await here.events('--type', 'epic.landed');
    assert.equal(landed?.data['as_tested'], true);
    assert.equal(pulls.fake.git.git(slug, 'rev-list', '--merges', 'main'), '');
  });

  test('a pull request whose group fails a check in the queue comes back, and enters the queue again', async () => {
    pulls.fake.required.push('unit');
    const here = await opened('merge = "queue"\n');
    await says(here, /^PR #41 waits for 1 of 1 check$/u);
    const first = head();
    pulls.fake.checks.set(first, [{ name: 'unit', state: 'success' }]);
    await says(here, /^PR #41 is in the merge queue, 1st$/u);
    const [entry] = pulls.fake.queue.splice(0);
    const annotations = [{ path: 't2.txt', line: 1, message: 'fails with the others' }];
    const failed = { name: 'unit', state: 'failure', annotations } as const;
    pulls.fake.checks.set(entry?.groupHead ?? '', [failed]);
    pulls.fake.removed.set(41, 'failed checks');
    await eventually('a fix is pushed', () => head() !== first);
    const fix = (await here.status()).tasks.find(({ title }) => title.startsWith('PR #41'));
    assert.equal(fix?.title, 'PR #41: the check unit is red');
    assert.equal(fix?.continues, 't2');
    pulls.fake.checks.set(head(), [{ name: 'unit', state: 'success' }]);
    await eventually('it is queued again', () => pulls.fake.queue.length === 1);
    pulls.fake.queue.splice(0);
    mergePull(pulls.fake, pull());
    await here.epicLanded();
    assert.deepEqual(pulls.fake.mergeRequests, ['queue 41', 'queue 41']);
  });

  test('a merge releases the epic that waits for it, whose run starts by itself', async () => {
    const here = await pulls.begin('', [
      { id: 'E2', type: 'epic', title: 'Sell hats' },
      { id: 't3', epic_id: 'E2', blocked_by: ['t2'] },
    ]);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await pulls.isReady();
    await here.expect(2, ['run', '--epic', 'E2', '--land', 'pr']);
    assert.equal((await here.task('t3')).status, 'blocked');
    pulls.merge('squash');
    await eventually('the next epic has its pull request', () => {
      return pulls.fake.pulls[1]?.head === 'drover/E2' && !pulls.fake.pulls[1].isDraft;
    });
    const head = pulls.fake.git.tip(slug, 'drover/E2') ?? '';
    const files = pulls.fake.git.git(slug, 'ls-tree', '--name-only', head).split('\n');
    assert.ok(['gh-2.txt', 't2.txt', 't3.txt'].every((name) => files.includes(name)));
  });

  for (const step of ['forge_merge_sent', 'forge_merge'])
    soakTest(`a pull request is queued once even if the backend dies at ${step}`, async () => {
      const here = await pulls.begin('merge = "queue"\n');
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      await here.drover(['run', '--epic', 'E1', '--land', 'pr', '--detach'], { env });
      await eventually('the backend has died', () => {
        return pulls.fake.queue.length > 0 && here.backendPid() === null;
      });
      here.start(['server', '--socket', `${here.folder}/own.sock`]);
      await says(here, /in the merge queue, 1st$/u);
      assert.deepEqual(pulls.fake.mergeRequests, ['queue 41']);
    });

  test('a pull request is tested on the newest base before the merge is requested', async () => {
    pulls.fake.rules.push(reviewRule(1));
    const here = await opened('merge = "queue"\n');
    await says(here, /^PR #41 waits for 1 approval \(not by drover\)$/u);
    pulls.fake.git.commit(slug, 'main', 'other.txt', 'by a person\n');
    await says(here, /; main has moved since the gate ran$/u);
    const gates = (await here.events('--type', 'gate.passed')).length;
    const at = '2026-11-01T12:00:00Z';
    const review = { id: 'R_1', author: 'lead', state: 'APPROVED', body: '', at } as const;
    pulls.fake.reviews.push(review);
    await says(here, /in the merge queue, 1st$/u);
    assert.equal((await here.events('--type', 'gate.passed')).length, gates + 1);
    mergePull(pulls.fake, pull());
    await here.epicLanded();
    const [landed] = await here.events('--type', 'epic.landed');
    assert.equal(landed?.data['as_tested'], true);
  });
});
