// How issues are read from GitHub: edges, pages, old servers, limits, and where the token is sent.

import assert from 'node:assert/strict';
import { issueName } from '../../server/core/forge/issue.ts';
import { ForgeClient } from '../../server/forge/client.ts';
import { GithubIssues } from '../../server/forge/github-issues.ts';
import { type FakeGithub, startFakeGithub } from '../doubles/fake-github/fake-github.ts';
import type { FakeIssue } from '../doubles/fake-github/bodies.ts';

const slug = 'acme/shop';
let now = Date.UTC(2026, 10, 28);

function issue(number: number, more: Partial<FakeIssue> = {}): FakeIssue {
  return { slug, number, title: `Issue ${number}`, ...more };
}

function trackerOf(fake: FakeGithub, token: string | null = null): GithubIssues {
  const client = new ForgeClient({ baseUrl: `${fake.url}api/v3/`, token, nowMs: () => now });
  return new GithubIssues(client, { owner: 'acme', name: 'shop' });
}

suite('issues of GitHub', () => {
  let fake: FakeGithub;
  setup(() => {
    now = Date.UTC(2026, 10, 28);
  });
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });

  test('an issue is read with all its sub-issues and its blockers', async () => {
    fake = await startFakeGithub();
    fake.issues.push(
      issue(1, { labels: ['drover'] }),
      issue(2, { parent: `${slug}#1`, blockedBy: [`${slug}#9`, 'acme/api#4'] }),
      issue(3, { parent: `${slug}#2` }),
      issue(9),
      { slug: 'acme/api', number: 4, title: 'Serve it', isClosed: true },
    );
    const answer = await trackerOf(fake).issues({ kind: 'numbers', numbers: [1] });
    assert.equal(answer.kind, 'facts');
    const found = answer.kind === 'facts' ? answer.value : [];
    assert.deepEqual(found.map(issueName), ['acme/shop#1', 'acme/shop#2', 'acme/shop#3']);
    const [, second, third] = found;
    assert.deepEqual(second?.parent, { slug, number: 1 });
    assert.deepEqual(third?.parent, { slug, number: 2 });
    const blockers = second?.blockedBy.map((one) => [issueName(one), one.isOpen]);
    assert.deepEqual(blockers, [
      ['acme/shop#9', true],
      ['acme/api#4', false],
    ]);
  });

  test('a label is read over all pages, without pull requests and closed issues', async () => {
    fake = await startFakeGithub();
    for (let number = 1; number <= 230; number += 1)
      fake.issues.push(issue(number, { labels: ['x'] }));
    fake.issues.push(
      issue(300, { labels: ['x'], isPullRequest: true }),
      issue(301, { labels: ['x'], isClosed: true }),
      issue(302),
    );
    const answer = await trackerOf(fake).issues({ kind: 'label', label: 'x' });
    assert.equal(answer.kind === 'facts' ? answer.value.length : answer.kind, 230);
    assert.equal(fake.requests.length, 3, 'an issue without edges costs no request of its own');
  });

  test('a milestone is found by its title, and an unknown one is refused with the known ones', async () => {
    fake = await startFakeGithub();
    fake.issues.push(issue(1, { milestone: '1.0' }), issue(2, { milestone: '2.0' }));
    const tracker = trackerOf(fake);
    const answer = await tracker.issues({ kind: 'milestone', milestone: '2.0' });
    assert.deepEqual(answer.kind === 'facts' && answer.value.map(issueName), ['acme/shop#2']);
    const unknown = await tracker.issues({ kind: 'milestone', milestone: '3.0' });
    assert.match(unknown.kind === 'unreadable' ? unknown.why : '', /"3\.0".*"1\.0", "2\.0"/u);
  });

  test("a search uses the forge's own syntax", async () => {
    fake = await startFakeGithub();
    fake.issues.push(issue(1, { title: 'Broken cart' }), issue(2));
    const answer = await trackerOf(fake).issues({ kind: 'search', words: 'cart' });
    assert.deepEqual(answer.kind === 'facts' && answer.value.map(issueName), ['acme/shop#1']);
  });

  test('issues have no edges on a server that does not support relations', async () => {
    fake = await startFakeGithub({ release: 'ghes-3.17' });
    fake.issues.push(issue(1), issue(2));
    const answer = await trackerOf(fake).issues({ kind: 'numbers', numbers: [1, 2] });
    assert.equal(answer.kind === 'facts' && answer.value.length, 2);
  });

  test('a renamed repository is followed on its own host', async () => {
    fake = await startFakeGithub();
    fake.issues.push({ slug: 'acme/store', number: 1, title: 'One' });
    fake.moved.set(slug, 'acme/store');
    const answer = await trackerOf(fake, 'secret').issues({ kind: 'numbers', numbers: [1] });
    assert.deepEqual(answer.kind === 'facts' && answer.value.map(issueName), ['acme/store#1']);
  });

  test('a redirect to another host is not followed, and no token is sent there', async () => {
    fake = await startFakeGithub();
    const other = await startFakeGithub();
    try {
      const location = `${other.url}api/v3/repos/acme/shop/issues/1`;
      fake.next.push({ status: 301, message: 'Moved', headers: { location } });
      const answer = await trackerOf(fake, 'secret').issues({ kind: 'numbers', numbers: [1] });
      assert.equal(answer.kind, 'unreadable');
      assert.deepEqual(other.requests, []);
    } finally {
      await other.close();
    }
  });

  const limits = [
    {
      name: 'the hour is used up',
      refused: {
        status: 403,
        message: 'API rate limit exceeded',
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1_000 + 600) },
      },
      forMs: 600_000,
    },
    {
      name: 'a secondary limit with a full hour',
      refused: {
        status: 403,
        message: 'You have exceeded a secondary rate limit.',
        headers: { 'x-ratelimit-remaining': '4999' },
      },
      forMs: 60_000,
    },
    {
      name: 'a time to wait',
      refused: { status: 429, message: 'Too many', headers: { 'retry-after': '17' } },
      forMs: 17_000,
    },
  ];
  for (const { name, refused, forMs } of limits) {
    test(`${name}: Drover sends nothing to the host until then`, async () => {
      fake = await startFakeGithub();
      fake.issues.push(issue(1));
      fake.next.push(refused);
      const tracker = trackerOf(fake);
      const query = { kind: 'numbers', numbers: [1] } as const;
      assert.deepEqual(await tracker.issues(query), { kind: 'limited', untilMs: now + forMs });
      now += forMs - 1;
      assert.equal((await tracker.issues(query)).kind, 'limited');
      assert.equal(fake.requests.length, 1, 'asked while it was limited');
      now += 1;
      assert.equal((await tracker.issues(query)).kind, 'facts');
    });
  }

  test('a list that cannot be read is not treated as empty', async () => {
    fake = await startFakeGithub();
    fake.issues.push(issue(1), issue(2, { parent: `${slug}#1` }));
    const query = { kind: 'numbers', numbers: [1] } as const;
    fake.refused.set('/sub_issues', { status: 403, message: 'Resource not accessible' });
    const refused = await trackerOf(fake).issues(query);
    assert.match(refused.kind === 'unreadable' ? refused.why : '', /may not be read with this/u);
  });

  test('a wrong token and a missing token are distinguished', async () => {
    fake = await startFakeGithub({ token: 'right' });
    fake.issues.push(issue(1));
    const query = { kind: 'numbers', numbers: [1] } as const;
    const wrong = await trackerOf(fake, 'wrong').issues(query);
    assert.match(wrong.kind === 'unreadable' ? wrong.why : '', /does not accept the token/u);
    const missing = await trackerOf(fake).issues(query);
    assert.match(missing.kind === 'unreadable' ? missing.why : '', /needs a token/u);
    assert.equal((await trackerOf(fake, 'right').issues(query)).kind, 'facts');
  });
});
