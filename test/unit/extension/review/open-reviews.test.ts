// Findings of reviewing agents that the Problems panel shows.

import assert from 'node:assert/strict';
import { findingPlaces, openReviews } from '../../../../extension/review/open-reviews.ts';
import type { ReviewView } from '../../../../server/protocol/requests/reviews.ts';
import { boardOf, numbered } from '../../../webview/support/boards.ts';

suite('reviews in the Problems panel', () => {
  const tasks = numbered([
    { id: 'mends', status: 'in_progress', attempts: 1 },
    { id: 'waits', status: 'needs_review', commit_sha: 'b' },
    { id: 'new', status: 'in_progress' },
    { id: 'landed', status: 'completed', commit_sha: 'c' },
  ]);
  const board = boardOf(tasks);
  const config = {
    ...board.config,
    'review.agent': { value: 'codex', source: 'project' },
  } as const;

  test('are those of work that has not landed, and of none without a reviewer', () => {
    assert.deepEqual(
      openReviews({ ...board, config }).map(({ task }) => task),
      ['mends', 'waits'],
    );
    assert.deepEqual(openReviews(board), []);
    assert.deepEqual(openReviews(null), []);
  });

  test('are read again when the task is sent back or its state changes', () => {
    const stateOf = (change: object): string | undefined =>
      openReviews({ ...board, config, tasks: [{ ...tasks[0]!, ...change }] })[0]?.state;
    assert.notEqual(stateOf({ attempts: 2 }), stateOf({ attempts: 1 }));
    assert.notEqual(stateOf({ phase: 'gate' }), stateOf({ phase: 'agent' }));
    assert.equal(stateOf({ title: 'other' }), stateOf({}));
  });

  test('show blocking findings as errors, others as warnings, and no overruled ones', () => {
    const finding = {
      path: 'a.ts',
      line: 3,
      severity: 'blocking',
      text: 'x',
      overruled: false,
    } as const;
    const findings = [
      finding,
      { ...finding, line: null, severity: 'minor' },
      { ...finding, overruled: true },
      { ...finding, path: null },
    ] as const;
    const places = findingPlaces({ findings } as unknown as ReviewView);
    assert.deepEqual(
      places.map(({ line, isError }) => [line, isError]),
      [
        [3, true],
        [1, false],
      ],
    );
    assert.deepEqual(findingPlaces(null), []);
  });
});
