import assert from 'node:assert/strict';
import {
  isInUse,
  whyBeside,
  whyFree,
  whyKept,
  worktreesHold,
  type WorktreeFacts,
} from '../../../server/core/work/worktree-room.ts';

suite('worktrees that may be removed', () => {
  const free: WorktreeFacts = { holder: 'nobody', dirty: false, unmergedCommits: 0 };
  const cases: readonly [string, Partial<WorktreeFacts>, string | null][] = [
    ['nobody uses it', {}, null],
    ['its task is over', { holder: 'completed' }, null],
    ['its task has failed', { holder: 'failed' }, null],
    ['a gate runs', { holder: 'gate' }, 'the gate is running in it'],
    ['upkeep', { holder: 'upkeep' }, 'Drover is tidying it up, or has set it aside'],
    ['an agent works', { holder: 'in_progress' }, 'its task is running'],
    ['paused', { holder: 'paused' }, 'its task is paused'],
    ['a conflict to merge', { holder: 'conflict' }, 'its task has a conflict'],
    ['a change to review', { holder: 'needs_review' }, 'its task waits for a review'],
    ['changed files', { dirty: true }, 'it holds changes that are not committed'],
    ['one commit', { unmergedCommits: 1 }, '1 of its commits is not on any target'],
    [
      'commits of a failed task',
      { holder: 'failed', unmergedCommits: 2 },
      '2 of its commits are not on any target',
    ],
    [
      'the holder counts first',
      { holder: 'waiting', dirty: true },
      'its task waits for its account',
    ],
  ];
  for (const [name, change, wanted] of cases) {
    test(name, () => assert.equal(whyKept({ ...free, ...change }), wanted));
  }

  test('slots in use are never removed, and slots that contain work only by force', () => {
    assert.deepEqual(
      (['gate', 'upkeep', 'in_progress', 'nobody', 'failed', 'ready'] as const).map(isInUse),
      [true, true, true, false, false, false],
    );
  });

  test('the reason why one may be removed is given', () => {
    assert.match(whyFree('nobody', 1), /^no task uses it, and all its work.*ref$/);
    assert.match(whyFree('nobody', 65 * 1024 * 1024), /It stays if it has more than .* of ignored/);
    assert.match(whyFree('cancelled', 1), /^its task is cancelled, and all its work/);
  });

  test('files beside them stay', () => {
    assert.match(whyBeside('.drover-setups'), /set up from these copies/);
    assert.match(whyBeside('slot-1.kept-2'), /delete it when you need them no more/);
    assert.match(whyBeside('mine'), /not a worktree of this project/);
  });

  test('the limit applies at its value, and the message names it and the command', () => {
    const gb = 1024 ** 3;
    assert.equal(worktreesHold(20 * gb - 1, 20 * gb), null);
    const hold = worktreesHold(20.5 * gb, 20 * gb) ?? '';
    assert.match(
      hold,
      /take 20\.5 GB \(\[worktree\] disk_limit = 20 GB\).*"drover worktree prune"/,
    );
    assert.ok(worktreesHold(20 * gb, 20 * gb) !== null);
  });
});
