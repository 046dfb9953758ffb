// The files of a change as pairs of addresses for VS Code's multi-diff editor. Pure.

import type { ChangedFileView, ChangeView } from '../../server/protocol/panel-views.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { toUriParts, type GitFile, type UriParts } from './git-uri.ts';

export interface FilePair {
  /** The name of the file in the list. */
  readonly label: UriParts;
  /** Null if the file was added. */
  readonly original: UriParts | null;
  /** Null if the file was removed. */
  readonly modified: UriParts | null;
}

export function filePairs(root: string, change: ChangeView): readonly FilePair[] {
  return change.files.map((file) => pairOf(root, change, file));
}

function pairOf(root: string, change: ChangeView, file: ChangedFileView): FilePair {
  const { path, old_path, status } = file;
  const about = { root, review: change.id };
  const before: GitFile = { ...about, sha: change.base, path: old_path ?? path, side: 'base' };
  const after: GitFile = { ...about, sha: change.head, path, side: 'head' };
  const original = status === 'added' ? null : toUriParts(before, old_path ?? path);
  const modified = status === 'removed' ? null : toUriParts(after, path);
  return { label: modified ?? toUriParts(before, path), original, modified };
}

/** VS Code appends the number of files. */
export function reviewTitle({ title, state }: ChangeView): string {
  const words: { readonly [S in ChangeView['state']]: string } = {
    working: 'running',
    committed: 'committed',
    review: 'to review',
    landed: 'landed',
  };
  return `${title} (${words[state]})`;
}

const conflictFilesMax = 200;

/**
 * The landed version on the left and the task's on the right: the two sides that git could not
 * merge.
 */
export function conflictPairs(
  root: string,
  { id, commit_sha, conflict_files }: TaskView,
  landed: string | null,
): readonly FilePair[] {
  if (commit_sha === null || landed === null) return [];
  return conflict_files.slice(0, conflictFilesMax).map((path) => {
    const about = { root, review: id, path };
    const theirs: GitFile = { ...about, sha: landed, side: 'base' };
    const ours: GitFile = { ...about, sha: commit_sha, side: 'head' };
    const modified = toUriParts(ours, path);
    return { label: modified, original: toUriParts(theirs, path), modified };
  });
}
