// Downloads a job's result, and retries if the network breaks, because the result exists on the
// worker as long as that does.

import { mkdirSync, rmSync } from 'node:fs';
import { err, ok, type Result } from '../../core/failure.ts';
import type { SentEntry } from './pack.ts';
import type { WorkerAddress } from './request.ts';
import { type JobResult, type ResultCaps, unpackResult } from './unpack.ts';
import { type Patience, type RequestFailure, retryWhileUnreachable } from './while-away.ts';
import { openDownload } from './worker-calls.ts';

/** Time limit for downloading a result. */
const downloadMs = 30 * 60_000;

export interface ResultPlace {
  /** A folder that only this job uses. */
  readonly scratch: string;
  readonly caps: ResultCaps;
  readonly sent: ReadonlyMap<string, SentEntry>;
}

export async function fetchResult(
  worker: WorkerAddress,
  place: ResultPlace,
  patience: Patience,
): Promise<Result<JobResult, string>> {
  return await retryWhileUnreachable(patience, () => fetchOnce(worker, place));
}

async function fetchOnce(
  worker: WorkerAddress,
  { scratch, caps, sent }: ResultPlace,
): Promise<Result<JobResult, RequestFailure>> {
  const archive = await openDownload(worker, AbortSignal.timeout(downloadMs));
  if (!archive.ok) return archive;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const result = await unpackResult(archive.value, scratch, caps, sent);
  if (result.ok) return ok(result.value);
  // The archive's content was not invalid, but incomplete.
  const isInterrupted = !archive.value.complete && !isHostile(result.error);
  return err({ message: result.error, isInterrupted });
}

export function isHostile(message: string): boolean {
  return message.startsWith('The worker sent') || message.startsWith("The result's file");
}
