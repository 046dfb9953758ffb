// Issues with a label are added to the plan automatically, and their runs start: the real backend
// on a project whose remote is a GitHub.

import assert from 'node:assert/strict';
import type { FakeIssue } from '../doubles/fake-github/bodies.ts';
import { type FakeGithub, startFakeGithub } from '../doubles/fake-github/fake-github.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';

const slug = 'acme/shop';
const token = 'ghp_dummy0123456789';

function issue(number: number, more: Partial<FakeIssue> = {}): FakeIssue {
  return { slug, number, title: `Issue ${number}`, ...more };
}

suite('intake of issues', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });
  let fake: FakeGithub;
  setup(async () => {
    fake = await startFakeGithub({ token });
  });
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });

  const begin = async (): Promise<Project> => {
    const here = project({
      env: { GH_ENTERPRISE_TOKEN: token },
      settings: '[forge]\nintake = "label:drover"\npoll = "1s"\n',
    });
    here.git('remote', 'add', 'origin', `${fake.url}${slug}.git`);
    await here.expect(0, ['init']);
    await here.expect(0, ['trust', '--yes']);
    return here;
  };
  const serve = (here: Project): void => {
    here.start(['server', '--socket', `${here.folder}/own.sock`]);
  };
  const tasksOf = async (here: Project): Promise<readonly string[]> =>
    (await here.status()).tasks.map(({ id, status }) => `${id} ${status}`);
  const put = (number: number, more: Partial<FakeIssue>): void => {
    const at = fake.issues.findIndex((one) => one.slug === slug && one.number === number);
    fake.issues[at] = { ...(fake.issues[at] ?? issue(number)), ...more };
  };
  const claimsOn = ({ labels = [] }: FakeIssue): readonly string[] =>
    labels.filter((label) => label.startsWith('drover-taken:'));

  test('two Drovers share the issues: each issue is taken once and claimed by label and assignee', async () => {
    for (let number = 1; number <= 6; number += 1)
      fake.issues.push(issue(number, { labels: ['drover'] }));
    const [one, other] = [await begin(), await begin()];
    serve(one);
    serve(other);
    const taken = async (): Promise<readonly string[]> => {
      const both = [...(await one.status()).tasks, ...(await other.status()).tasks];
      return both.map(({ id }) => id).toSorted();
    };
    const all = ['gh-1', 'gh-2', 'gh-3', 'gh-4', 'gh-5', 'gh-6'];
    await eventually('all are taken', async () => (await taken()).length >= all.length);
    await eventually('all are done', async () => {
      const lines = [...(await tasksOf(one)), ...(await tasksOf(other))];
      return lines.length >= all.length && lines.every((line) => line.endsWith(' completed'));
    });
    assert.deepEqual(await taken(), all);
    for (const each of fake.issues) {
      assert.equal(claimsOn(each).length, 1, `${each.number}`);
      assert.deepEqual(each.assignees, ['drover']);
    }
  });

  test('an epic of sub-issues runs, and work that waits for an issue elsewhere is held until that issue closes', async () => {
    fake.issues.push(
      issue(1, { title: 'Sell shoes', labels: ['drover'] }),
      issue(2, { parent: `${slug}#1` }),
      issue(3, { parent: `${slug}#1`, blockedBy: [`${slug}#2`, 'acme/api#4', `${slug}#9`] }),
      issue(5, { labels: ['drover'], assignees: ['lead'] }),
      issue(6, { labels: ['drover', 'drover-taken:elsewhe'] }),
      issue(9),
      { slug: 'acme/api', number: 4, title: 'Serve it' },
    );
    const here = await begin();
    serve(here);
    await eventually('the first is done', async () => {
      return (await tasksOf(here)).includes('gh-2 completed');
    });
    const held = await here.task('gh-3');
    assert.equal(held.status, 'blocked');
    assert.equal(held.blocked_reason, 'waits for acme/shop#9 (open), acme/api#4 (open)');
    assert.deepEqual(held.blocked_by, ['gh-2']);
    assert.match(await here.expect(0, ['why', 'gh-3']), /waits for acme\/shop#9 \(open\)/u);

    put(9, { isClosed: true });
    await eventually('one is left', async () => {
      return (await here.task('gh-3')).blocked_reason === 'waits for acme/api#4 (open)';
    });
    const api = fake.issues.findIndex((one) => one.slug === 'acme/api');
    fake.issues[api] = { slug: 'acme/api', number: 4, title: 'Serve it', isClosed: true };
    await eventually('it is released and done', async () => {
      return (await tasksOf(here)).includes('gh-3 completed');
    });
    assert.deepEqual(await tasksOf(here), ['gh-2 completed', 'gh-3 completed']);
    await here.epicLanded();
  });

  test('a later check updates the plan without duplicates, and names a cycle', async () => {
    fake.issues.push(issue(1, { labels: ['drover'], blockedBy: ['acme/api#4'] }), {
      slug: 'acme/api',
      number: 4,
      title: 'Serve it',
    });
    const here = await begin();
    serve(here);
    await eventually('it is taken', async () => (await tasksOf(here)).includes('gh-1 blocked'));
    put(1, { title: 'A better title' });
    fake.issues.push(
      issue(7, { labels: ['drover'], blockedBy: [`${slug}#8`] }),
      issue(8, { labels: ['drover'], blockedBy: [`${slug}#7`] }),
    );
    await eventually('the circle is named', async () => {
      const told = await here.events('--type', 'issues.not_taken');
      return told.some(({ data }) => /gh-7.*gh-8|gh-8.*gh-7/u.test(String(data['reason'])));
    });
    assert.deepEqual(
      (await here.status()).tasks.map(({ id, title }) => `${id} ${title}`),
      ['gh-1 A better title'],
    );
  });
});
