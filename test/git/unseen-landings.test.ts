// Commands of a person that started before a landing and moved the branch after it have not seen it: they take nothing of it back.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { FollowOutcome, GitRepository } from '../../server/git/port.ts';
import { landedOn, makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: landings that a command has not seen', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
  });
  teardown(() => fixture.remove());

  const land = (from: string, files: Readonly<Record<string, string>>): Promise<string> =>
    landedOn(fixture, repository, from, files);
  const main = (): string => fixture.git('rev-parse', 'main');
  const follow = async (tip: string): Promise<FollowOutcome> =>
    valueOf(await repository.follow('main', tip, 'fast-forward'));
  /** A rebase of all of main that stops at its first commit. */
  const beginRebase = (): unknown =>
    execFileSync('git', ['rebase', '-q', '-i', '--root'], {
      cwd: fixture.root,
      env: { ...fixture.environment, GIT_SEQUENCE_EDITOR: 'sed -i s/^pick/edit/' },
      stdio: 'ignore',
    });

  test('what a rebase that is given up has put back follows again', async () => {
    const tip = await land(main(), { 'new.txt': 'n\n' });
    const before = main();
    beginRebase();
    // The landing was already in progress when the rebase started.
    fixture.git('update-ref', '--create-reflog', 'refs/heads/main', tip);
    fixture.git('rebase', '--abort');
    assert.equal(main(), before);
    assert.equal(await repository.takenBackUnseen('main', tip, before), before);
    assert.equal(await repository.takenBackUnseen('main', before, tip), null);
    assert.deepEqual(await follow(tip), { kind: 'followed', sha: tip });
    assert.equal(main(), tip);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a rebase that is given up has not seen what landed meanwhile, whatever came before and after', async () => {
    const before = main();
    const first = await land(before, { 'first.txt': '1\n' });
    const second = await land(first, { 'second.txt': '2\n' });
    const isUnseen = (tip: string): Promise<string | null> =>
      repository.takenBackUnseen('main', tip, main());
    beginRebase();
    for (const tip of [first, second])
      fixture.git('update-ref', '--create-reflog', '-m', 'drover: land', 'refs/heads/main', tip);
    fixture.git('rebase', '--abort');
    for (const tip of [first, second]) assert.equal(await isUnseen(tip), before);
    // A person goes on from there before anybody looks.
    fixture.git('commit', '-q', '--allow-empty', '-m', 'mine');
    for (const tip of [first, second]) assert.equal(await isUnseen(tip), before);
    // Only the last move counts that took it out.
    fixture.git('reset', '-q', '--hard', second);
    assert.equal(await isUnseen(first), null, 'it is there');
    fixture.git('reset', '-q', '--hard', before);
    for (const tip of [first, second]) assert.equal(await isUnseen(tip), null);
  });

  test('a reset by steps that was counted before a landing has not seen that', async () => {
    const first = main();
    fixture.write(join(fixture.root, 'own.txt'), 'own\n');
    fixture.git('add', 'own.txt');
    fixture.git('commit', '-qm', 'own');
    const own = main();
    const tip = await land(own, { 'new.txt': 'n\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    // Git had counted the steps before the landing, and writes the branch after it.
    fixture.git('update-ref', '-m', 'reset: moving to HEAD~1', 'HEAD', first);
    fixture.git('read-tree', '--reset', '-u', first);
    assert.equal(await repository.takenBackUnseen('main', tip, first), own);
    // Who counts from the landing takes it back, and says so with the same words.
    fixture.git('merge', '-q', '--ff-only', tip);
    fixture.git('reset', '-q', '--hard', 'HEAD~2');
    assert.equal(main(), first);
    assert.equal(await repository.takenBackUnseen('main', tip, first), null);
    assert.deepEqual(await follow(tip), { kind: 'followed', sha: tip });
    assert.equal(main(), first);
  });

  test('what landed as a rebase began has not arrived before that rebase ends', async () => {
    const before = main();
    const tip = await land(before, { 'new.txt': 'n\n' });
    beginRebase();
    fixture.git('update-ref', '--create-reflog', 'refs/heads/main', tip);
    const outcome = await follow(tip);
    assert.equal(outcome.kind === 'pending' ? outcome.commits : null, 1);
    assert.match(outcome.kind === 'pending' ? outcome.reason : '', /rebase .* began before this/);
    fixture.git('rebase', '--abort');
    assert.deepEqual(await follow(tip), { kind: 'followed', sha: tip });
    assert.equal(main(), tip);
    assert.deepEqual(await follow(tip), { kind: 'followed', sha: tip });
  });
});
