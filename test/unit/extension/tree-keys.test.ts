// The answer to the tree's question whether all its keys have come back as commands.

import assert from 'node:assert/strict';
import { KeysOnTheirWay, pushOfKey } from '../../../extension/commands/tree-keys.ts';

suite('keys of the tree', () => {
  test('the answer follows a command that VS Code sends late, and a slow command', async () => {
    const done: string[] = [];
    const slow = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let trips = 0;
    const keys = new KeysOnTheirWay(async () => {
      await Promise.resolve();
      trips += 1;
      if (trips === 1) return;
      void keys.follow(slow.promise.then(() => void done.push('command')));
      asked.resolve();
    });
    const answer = keys.done().then(() => done.push('answer'));
    await asked.promise;
    slow.resolve();
    await answer;
    assert.deepEqual(done, ['command', 'answer']);
  });

  test('a failing command also counts as finished', async () => {
    const keys = new KeysOnTheirWay(() => Promise.resolve());
    const failing = keys.follow(Promise.reject(new Error('no tree')));
    await keys.done();
    await assert.rejects(failing, /no tree/u);
  });

  test('keys in the tree open and run the same things as the menu commands', () => {
    assert.equal(pushOfKey('drover.openStream')?.action, 'open');
    assert.equal(pushOfKey('drover.runEpic')?.action, 'run');
    assert.equal(pushOfKey('drover.rename')?.action, 'rename');
    assert.equal(pushOfKey('drover.showInbox'), null);
  });
});
