import assert from 'node:assert/strict';
import {
  freeTitle,
  isUnderReview,
  readTitles,
  titled,
} from '../../../extension/review/review-titles.ts';
import { epicView, snapshotOf, taskView } from '../../doubles/views.ts';

const review = (id: string, head = 'a'.repeat(40)): { root: string; id: string; head: string } => ({
  root: '/r',
  id,
  head,
});

suite('titles of reviews', () => {
  test('a title belongs to one state of one review', () => {
    const titles = { 'Pay (to review)': review('t1') };
    const free = (id: string, head?: string): string =>
      freeTitle(titles, 'Pay (to review)', review(id, head));
    assert.equal(free('t1'), 'Pay (to review)');
    assert.equal(free('t2'), 'Pay (to review) · t2');
    assert.equal(free('t1', 'b'.repeat(40)), 'Pay (to review) · t1');
    const both = { ...titles, 'Pay (to review) · t1': review('t1', 'b'.repeat(40)) };
    assert.equal(
      freeTitle(both, 'Pay (to review)', review('t1', 'c'.repeat(40))),
      'Pay (to review) · t1 · cccccccc',
    );
  });

  test('a title is found by its label, whatever VS Code appends to it', () => {
    const titles = { Pay: review('t1'), 'Pay (to review)': review('t2') };
    const found = (label: string): string | undefined => titled(titles, label)?.id;
    assert.equal(found('Pay (to review) (3 files)'), 't2');
    assert.equal(found('Pay (1 Datei)'), 't1');
    assert.equal(found('Payment'), undefined);
  });

  test('only work that waits for a decision, in the displayed state, is under review', () => {
    const head = 'a'.repeat(40);
    const isOpen = (task: Parameters<typeof taskView>[0], id = 't1'): boolean =>
      isUnderReview(snapshotOf([taskView(task)]), review(id, head));
    assert.ok(isOpen({ id: 't1', status: 'needs_review', commit_sha: head }));
    assert.ok(!isOpen({ id: 't1', status: 'needs_review', commit_sha: head }, ''), 'a transcript');
    assert.ok(!isOpen({ id: 't1', status: 'needs_review', commit_sha: 'b'.repeat(40) }), 'changed');
    assert.ok(!isOpen({ id: 't1', status: 'needs_review', commit_sha: head, phase: 'land' }));
    assert.ok(!isOpen({ id: 't1', status: 'conflict', commit_sha: head }));
    assert.ok(!isOpen({ id: 't1', status: 'completed', commit_sha: head }));
    const epics = [epicView({ id: 'e1', landing_state: 'needs_review' })];
    assert.ok(isUnderReview(snapshotOf([], { epics }), review('e1')));
    const landed = [epicView({ id: 'e1', landing_state: 'landed' })];
    assert.ok(!isUnderReview(snapshotOf([], { epics: landed }), review('e1')));
  });

  test('titles stored by another version are ignored', () => {
    assert.deepEqual(readTitles(null), {});
    assert.deepEqual(readTitles({ a: { root: '/r', id: 't' }, b: review('t') }), {
      b: review('t'),
    });
  });
});
