// A previous user's leftovers in a slot are kept before the next user gets it.

import assert from 'node:assert/strict';
import { rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import type { Snapshot } from '../../server/git/snapshot-port.ts';
import { removeFolder } from '../remove-folder.ts';
import { makeFixture, snapshotRef, valueOf, type Fixture } from './fixture.ts';
import type { SlotOutcome, SlotRequest } from '../../server/git/slot-port.ts';

suite('git: leftovers in a slot', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let base: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    base = fixture.git('rev-parse', 'main');
  });
  teardown(() => fixture.remove());

  const request = (change: Partial<SlotRequest> = {}): SlotRequest => ({
    path: fixture.slot('s0'),
    branch: 'drover/t/1',
    sha: base,
    keepBranch: false,
    dropIgnored: false,
    sparse: null,
    use: 'task',
    ...change,
  });
  const prepare = async (change: Partial<SlotRequest> = {}): Promise<SlotOutcome> =>
    valueOf(await repository.prepareSlot(request(change)));
  const inSlot = (...args: readonly string[]): string => fixture.gitIn(fixture.slot('s0'), ...args);
  const write = (path: string, content: string): void =>
    fixture.write(join(fixture.slot('s0'), path), content);
  /** The slot is on this branch, at this commit, and clean. */
  const assertReady = (branch: string | null, sha = base): void => {
    assert.equal(inSlot('rev-parse', 'HEAD'), sha);
    assert.equal(inSlot('rev-parse', '--abbrev-ref', 'HEAD'), branch ?? 'HEAD');
    assert.equal(inSlot('status', '--porcelain'), '');
  };

  const leavings: readonly (readonly [string, () => void, (ref: string) => string | boolean])[] = [
    [
      'a changed file',
      () => write('README.md', 'mine\n'),
      (ref) => fixture.git('show', `${ref}:README.md`) === 'mine',
    ],
    [
      'an untracked file',
      () => write('deep/new.txt', 'mine\n'),
      (ref) => fixture.git('show', `${ref}:deep/new.txt`) === 'mine',
    ],
    [
      'a secret',
      () => write('.env', 'mine\n'),
      (ref) => fixture.git('show', `${ref}:.env`) === 'mine',
    ],
    [
      'staged work overwritten in the file',
      () => {
        write('README.md', 'staged\n');
        inSlot('add', '-A');
        write('README.md', 'on top\n');
      },
      (ref) =>
        fixture.git('show', `${ref}:README.md`) === 'on top' &&
        fixture.git('show', `${ref}^2:README.md`) === 'staged',
    ],
    [
      'a change that sizes and times do not show',
      () => {
        inSlot('config', 'core.trustctime', 'false');
        const file = join(fixture.slot('s0'), 'README.md');
        const then = Math.floor(Date.now() / 1000) - 100;
        for (const [content, add] of [
          ['before\n', true],
          ['beyond\n', false],
        ] as const) {
          write('README.md', content);
          utimesSync(file, then, then);
          if (add) inSlot('add', '-A');
        }
        utimesSync(join(fixture.root, '.git', 'worktrees', 's0', 'index'), then, then);
      },
      (ref) => fixture.git('show', `${ref}:README.md`) === 'beyond',
    ],
    [
      'commits on a detached HEAD',
      () => {
        inSlot('switch', '-q', '--detach');
        write('one.txt', '1\n');
        inSlot('add', '-A');
        inSlot('-c', 'user.name=x', '-c', 'user.email=x', 'commit', '-qm', 'lost');
      },
      (ref) => fixture.git('show', '-s', '--format=%s', `${ref}^`) === 'lost',
    ],
    [
      'a repository inside',
      () => {
        inSlot('init', '-q', 'inner/deeper');
        write('inner/deeper/file.txt', 'mine\n');
      },
      (ref) => fixture.git('show', `${ref}:inner/deeper/file.txt`) === 'mine',
    ],
    [
      'an unmerged index',
      () => {
        fixture.git('branch', 'side');
        write('README.md', 'ours\n');
        inSlot('commit', '-qam', 'ours');
        const ours = inSlot('rev-parse', 'HEAD');
        inSlot('reset', '-q', '--hard', base);
        write('README.md', 'theirs\n');
        inSlot('commit', '-qam', 'theirs');
        assert.throws(() => inSlot('merge', ours));
      },
      (ref) => /<<<<<<</.test(fixture.git('show', `${ref}:README.md`)),
    ],
    [
      'a deleted index',
      () => {
        write('README.md', 'mine\n');
        rmSync(join(fixture.root, '.git', 'worktrees', 's0', 'index'));
      },
      (ref) => fixture.git('show', `${ref}:README.md`) === 'mine',
    ],
    [
      'a deleted .git file',
      () => {
        write('README.md', 'mine\n');
        rmSync(join(fixture.slot('s0'), '.git'));
      },
      (ref) => fixture.git('show', `${ref}:README.md`) === 'mine',
    ],
    [
      'a private folder that somebody pruned',
      () => {
        write('README.md', 'mine\n');
        removeFolder(join(fixture.root, '.git', 'worktrees', 's0'));
      },
      (ref) => fixture.git('show', `${ref}:README.md`) === 'mine',
    ],
  ];
  for (const [what, leave, isKept] of leavings) {
    for (const restarted of [false, true]) {
      test(`${what} is kept before the next task${restarted ? ' of another process' : ''}`, async () => {
        await prepare();
        leave();
        if (restarted) repository = await fixture.open();
        const outcome = await prepare({ branch: 'drover/t/2' });
        assert.equal(outcome.created, false);
        assert.ok(outcome.keptRef?.startsWith('refs/drover/work/'), String(outcome.keptRef));
        assert.ok(isKept(outcome.keptRef ?? ''));
        assertReady('drover/t/2');
      });
    }
  }

  test('identical leftovers make one snapshot', async () => {
    await prepare();
    write('README.md', 'mine\n');
    const label = 'a label/with ü: odd..parts';
    const ref = await snapshotRef(repository, fixture.slot('s0'), label);
    const first = fixture.git('rev-parse', ref ?? '');
    assert.equal(await snapshotRef(repository, fixture.slot('s0'), label), ref);
    assert.equal(fixture.git('rev-parse', ref ?? ''), first);
    assert.match(ref ?? '', /^refs\/drover\/work\/a-label\/with-[-a-z]*$/);
    assert.equal(inSlot('status', '--porcelain'), ' M README.md');
    const request = { path: fixture.slot('s0'), label: 'x/1', reason: 'end' } as const;
    const snapshot = async (): Promise<Snapshot | null> =>
      valueOf(await repository.snapshot({ ...request, author: 'agent', base }));
    assert.equal((await snapshot())?.isNew, true);
    inSlot('checkout', '-q', '.');
    assert.equal(await snapshot(), null);
  });
});
