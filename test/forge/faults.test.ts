// Failures on the way to a forge, one test each: the pull request is completed anyway.

import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { soakTest } from '../tier.ts';
import { slug, usePulls } from './support/pulls.ts';

suite('failures of a forge', function () {
  this.timeout(180_000);
  const pulls = usePulls();

  const lands = async (here: Project): Promise<void> => {
    pulls.merge('merge');
    await here.epicLanded();
    assert.equal(pulls.fake.pulls.length, 1);
  };
  const isNoted = (here: Project, words: RegExp): Promise<true> =>
    eventually(`the note says ${words.source}`, async () => words.test(await pulls.noteOf(here)));

  test('a repository is renamed during a run: the old name redirects to the new one, and the work is merged there', async () => {
    const here = await pulls.opened();
    pulls.fake.rename(slug, 'acme/store');
    const before = pulls.fake.requests.length;
    await eventually('it is read at its new place', () => {
      const since = pulls.fake.requests.slice(before);
      return since.some((line) => line.startsWith('GET /repos/acme/store/pulls/41'));
    });
    await lands(here);
  });

  const limits = [
    {
      name: '403 with a used-up hour',
      status: 403,
      message: 'API rate limit exceeded',
      headers: () => ({
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000) + 2),
      }),
    },
    {
      name: '429',
      status: 429,
      message: 'Too many requests',
      headers: () => ({ 'retry-after': '2' }),
    },
    {
      name: 'a secondary limit with a full hour',
      status: 403,
      message: 'You have exceeded a secondary rate limit.',
      headers: () => ({ 'x-ratelimit-remaining': '4999', 'retry-after': '2' }),
    },
  ];
  for (const { name, status, message, headers } of limits) {
    soakTest(`${name}: Drover reports it, waits, and continues`, async () => {
      const here = await pulls.opened();
      pulls.fake.next.push({ status, message, headers: headers() });
      await isNoted(here, /allows no more requests for now/u);
      await isNoted(here, /waits for a person to merge it/u);
      await lands(here);
    });
  }

  soakTest(
    'a mergeable state that is not known yet starts nothing, but a conflict does',
    async () => {
      const here = await pulls.opened();
      Object.assign(pulls.pull(), { isMergeable: null });
      const before = pulls.fake.requests.length;
      await eventually('it is read twice', () => {
        const since = pulls.fake.requests.slice(before);
        return since.filter((line) => line.startsWith(`GET /repos/${slug}/pulls/41`)).length >= 2;
      });
      assert.equal((await here.status()).tasks.length, 2);
      Object.assign(pulls.pull(), { isMergeable: false });
      await eventually('the conflict is given to an agent', async () => {
        return (await here.status()).tasks.some(({ title }) => title === 'PR #41: merge main');
      });
    },
  );

  soakTest('a merged pull request that is missing from the list is read individually', async () => {
    const here = await pulls.opened();
    pulls.fake.refused.set(`/repos/${slug}/pulls`, { status: 404, message: 'Not Found' });
    await lands(here);
  });

  test('a foreign force-push stops the epic and asks a person', async () => {
    const here = await pulls.opened();
    const base = pulls.fake.git.tip(slug, 'main') ?? '';
    pulls.fake.git.git(slug, 'update-ref', 'refs/heads/drover/E1', base);
    pulls.fake.git.commit(slug, 'drover/E1', 'theirs.txt', 'instead\n');
    await eventually('the epic is returned', async () => {
      return (await here.status()).epics[0]?.landing_state === 'returned';
    });
    assert.match(await pulls.noteOf(here), /someone replaced commits of PR #41/u);
    assert.equal(pulls.fake.git.pushes.length, 1);
  });

  soakTest('a review that was edited after it was read is passed on once more', async () => {
    const here = await pulls.opened();
    pulls.fake.permissions.set('lead', 'write');
    pulls.fake.permissions.set('drover', 'admin');
    const said = { id: 'RC_1', author: 'lead', body: 'Name them.', at: '2026-11-01T12:00:00Z' };
    const thread = { id: 'RT_1', isResolved: false, path: 'gh-2.txt', line: 1, comments: [said] };
    pulls.fake.threads.push(thread);
    const fixes = async (): Promise<number> => {
      const { tasks } = await here.status();
      return tasks.filter(({ title }) => title.startsWith('PR #41: review')).length;
    };
    await eventually('it is given', async () => (await fixes()) === 1);
    const edited = { ...said, body: 'Name them in German.', at: '2026-11-01T12:05:00Z' };
    pulls.fake.threads[0] = { ...thread, comments: [edited] };
    await eventually('it is given again', async () => (await fixes()) === 2);
  });
});
