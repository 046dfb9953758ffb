import assert from 'node:assert/strict';
import { freeTitle, readTitles, titled } from '../../../extension/review/review-titles.ts';

const review = (id: string, head = 'a'.repeat(40)): { root: string; id: string; head: string } => ({
  root: '/r',
  id,
  head,
});

suite('titles of reviews', () => {
  test('a title stands for one state of one review', () => {
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

  test('found by the label, whatever VS Code puts behind it', () => {
    const titles = { Pay: review('t1'), 'Pay (to review)': review('t2') };
    const found = (label: string): string | undefined => titled(titles, label)?.id;
    assert.equal(found('Pay (to review) (3 files)'), 't2');
    assert.equal(found('Pay (1 Datei)'), 't1');
    assert.equal(found('Payment'), undefined);
  });

  test('what another version has kept is left out', () => {
    assert.deepEqual(readTitles(null), {});
    assert.deepEqual(readTitles({ a: { root: '/r', id: 't' }, b: review('t') }), {
      b: review('t'),
    });
  });
});
