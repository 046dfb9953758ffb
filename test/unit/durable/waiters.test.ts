import assert from 'node:assert/strict';
import { Waiters } from '../../../server/durable/waiters.ts';

suite('waiters', () => {
  test('a failing check is reported, and no caller keeps waiting', async () => {
    const waiters = new Waiters();
    const look = (): Promise<never> => Promise.reject(new Error('the database is away'));
    const waiting = waiters.wait('w1', look, () => assert.fail('nobody waits'));
    await assert.rejects(waiting, /the database is away/);
    assert.deepEqual(waiters.ids, []);
  });
});
