// Recognizes failures on a full disk, which are not the task's fault. The failed program's output
// proves nothing, so Drover tries to write to the disks.

import { failure, type Failure } from '../../core/failure.ts';
import type { Uses } from './engine-ports.ts';

/** Returns the failure unchanged if every disk that an attempt's programs write to has space. */
export async function orFullDisk(
  engine: Uses<'files' | 'places'>,
  failed: Failure,
): Promise<Failure> {
  const { worktrees, logs } = engine.places;
  const full = await engine.files.fullDisk([worktrees, logs]);
  if (full === null) return failed;
  return failure('disk_full', `The disk of ${full} is full: ${failed.message}`, failed.detail);
}

/** For Drover's own files, such as a log or a prompt. */
export function ownFilesFailure(said: string): Failure {
  return failure(
    'disk_full',
    `Drover could not write its files, because the disk is full: ${said}`,
  );
}
