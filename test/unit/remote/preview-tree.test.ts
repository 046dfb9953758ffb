// The preview of an upload, folder by folder, and the files that stay here: all are counted, and a
// limited number is shown.

import assert from 'node:assert/strict';
import { previewTree } from '../../../server/remote/preview-tree.ts';
import type { UploadPlan } from '../../../server/workers/client/upload-plan.ts';

const file = (path: string, bytes: number): UploadPlan['entries'][number] => ({
  kind: 'file',
  path,
  bytes,
  isExecutable: false,
});

suite('preview of an upload as a tree', () => {
  test('each folder is shown with its own files', () => {
    const entries = [
      file('b/c/x', 3),
      file('a.txt', 1),
      file('b/c/y', 4),
      file('b/z', 5),
      { kind: 'link' as const, path: 'b/link', target: 'z' },
    ];
    assert.deepEqual(previewTree({ entries, leftOut: [] }).folders, [
      { path: '', files: 1, bytes: 1 },
      { path: 'b', files: 1, bytes: 5 },
      { path: 'b/c', files: 2, bytes: 7 },
    ]);
  });

  test('rows beyond what a person reads are only counted', () => {
    const names = Array.from({ length: 2_003 }, (_, n) => String(n));
    const tree = previewTree({
      entries: names.map((name) => file(`${name}/x`, 1)),
      leftOut: names.map((name) => ({ path: name, reason: 'ignored' })),
    });
    assert.deepEqual([tree.folders.length, tree.folders_more], [2_000, 3]);
    assert.deepEqual([tree.left_out.length, tree.left_out_more], [2_000, 3]);
    assert.deepEqual(previewTree(null).folders, []);
  });
});
