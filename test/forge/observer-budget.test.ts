// The cost of watching open pull requests: requests that count toward GitHub's hourly limit. A
// request that is answered with status 304 is free.

import assert from 'node:assert/strict';
import { sized, soakTest } from '../tier.ts';
import { watchPulls, type WatchedPulls } from './support/watched-pulls.ts';

const looksOfHour = 60;
const pulls = sized(4, 20);
/** 60 for 20 pull requests. */
const countedMost = 3 * pulls;

suite('the requests of an observer', function () {
  this.timeout(120_000);
  let watched: WatchedPulls;
  teardown(async () => {
    await watched.close();
    assert.deepEqual(watched.fake.faults, []);
  });

  test('of idle pull requests are free but for three an hour for each, at most', async () => {
    watched = await watchPulls(pulls);
    await watched.look(1);
    const counted = await watched.look(looksOfHour);
    assert.ok(counted.length <= countedMost, `${counted.length} requests counted`);
    for (const note of await watched.notes())
      assert.match(note ?? '', /waits for a person to merge/u);
  });

  soakTest(
    'stay as few with older protection, strange comments and a token without check runs',
    async () => {
      watched = await watchPulls(pulls, { kind: 'fine_grained' });
      watched.fake.base.protection = { approvals: 1 };
      const said = { id: 'RC_1', author: 'eve', body: 'Hello.', at: '2026-11-01T12:00:00Z' };
      const place = { isResolved: false, path: '0.txt', line: 1 };
      watched.fake.threads.push({ id: 'RT_1', ...place, comments: [said] });
      await watched.look(1);
      const counted = await watched.look(looksOfHour);
      assert.ok(counted.length <= countedMost, `${counted.length} requests counted`);
    },
  );

  soakTest('stay as few if GitHub is to merge them', async () => {
    watched = await watchPulls(pulls, { merge: 'auto' });
    watched.fake.required.push('deploy');
    await watched.look(1);
    const counted = await watched.look(looksOfHour);
    assert.ok(counted.length <= countedMost, `${counted.length} requests counted`);
  });

  test('do not grow when the token is read again, and start again with another token', async () => {
    watched = await watchPulls(2);
    await watched.look(1);
    assert.deepEqual(await watched.look(15), []);
    watched.fake.people.set('ghp_other', 'drover');
    watched.setToken('ghp_other');
    assert.notDeepEqual(await watched.look(1), []);
  });

  test('read the threads of a pull request as soon as a comment or a review is new', async () => {
    watched = await watchPulls(1);
    await watched.look(2);
    watched.fake.permissions.set('lead', 'write');
    const said = { id: 'R_1', author: 'lead', body: 'No.', at: '2030-11-01T12:00:00Z' };
    watched.fake.reviews.push({ ...said, state: 'APPROVED' });
    const counted = await watched.look(1);
    assert.deepEqual(counted.filter((line) => line.includes('graphql')).length, 1);
    assert.deepEqual((await watched.look(1)).length, 0);
  });

  test('find a thread that was resolved within half an hour', async () => {
    watched = await watchPulls(1);
    const { fake } = watched;
    fake.permissions.set('lead', 'write');
    const said = {
      id: 'RC_1',
      author: 'lead',
      body: 'Why?\n\n<!-- drover -->',
      at: '2026-11-01T12:00:00Z',
    };
    fake.threads.push({ id: 'RT_1', isResolved: false, path: '0.txt', line: 1, comments: [said] });
    await watched.look(1);
    assert.match((await watched.notes())[0] ?? '', /a thread on 0\.txt:1/u);
    const [thread] = fake.threads;
    if (thread !== undefined) thread.isResolved = true;
    await watched.look(30);
    assert.match((await watched.notes())[0] ?? '', /waits for a person to merge/u);
  });
});
