// A failure on a full disk is not the task's fault. The failed program's output proves nothing, so
// the disks are tried.

import { failure, type Failure } from '../../core/failure.ts';
import type { Uses } from './engine-ports.ts';

/** The failure itself if every disk that a program of an attempt writes has space now. */
export async function orFullDisk(
  engine: Uses<'files' | 'places'>,
  failed: Failure,
): Promise<Failure> {
  const { worktrees, logs } = engine.places;
  const full = await engine.files.fullDisk([worktrees, logs]);
  if (full === null) return failed;
  return failure('disk_full', `The disk of ${full} is full: ${failed.message}`, failed.detail);
}

/** Drover's own files: a log, a prompt. */
export function ownFilesFailure(said: string): Failure {
  return failure(
    'disk_full',
    `Drover could not write its files, because the disk is full: ${said}`,
  );
}
