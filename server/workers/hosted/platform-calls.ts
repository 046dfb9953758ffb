// The hosted path: a platform provisions the worker, clones a git ref, runs the agent, keeps the
// job's event log and pushes the job branch. Only `POST /api/v1/jobs`, the branch `drover/job/<id>`
// and the fact that the event log has the endpoint of a worker's stream are documented. The rest of
// this protocol is an assumption, as docs/remote.md lists.

import * as z from 'zod';
import { err, ok, type Result } from '../../core/failure.ts';
import { askWorker, toSingleLine, readText, type WorkerAddress } from '../client/request.ts';
import { execReplySchema } from '../wire-schemas.ts';
import { cancelPath } from '../wire.ts';

export const jobsPath = '/api/v1/jobs';

/** The only branch of the platform that is ever fetched for a job. */
export const jobBranch = (jobId: string): string => `refs/heads/drover/job/${jobId}`;

export interface HostedSubmission {
  /** Chosen by Drover, so that users find the job on the platform. */
  readonly name: string;
  readonly prompt: string;
  /** The ref that the platform clones, and the commit that it must find there. */
  readonly ref: string;
  readonly baseSha: string;
  readonly timeoutSecs: number;
}

export interface SubmitFailure {
  readonly message: string;
  /** The platform refused, so no job was created. */
  readonly isCertain: boolean;
  readonly retryable: boolean;
}

const answerMs = 60_000;

/** Sent once, because after an error it is unknown whether the platform created a job. */
export async function submitJob(
  platform: WorkerAddress,
  submission: HostedSubmission,
  signal: AbortSignal,
): Promise<Result<string, SubmitFailure>> {
  try {
    const answer = await askWorker(platform, {
      method: 'POST',
      path: jobsPath,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: submission.name,
        prompt: submission.prompt,
        git: { ref: submission.ref, base_sha: submission.baseSha },
        timeout_secs: submission.timeoutSecs,
      }),
      signal,
      answerMs,
    });
    const text = await readText(answer);
    const status = answer.statusCode ?? 0;
    if (status < 200 || status >= 300) return err(refusal(status, text));
    const parsed = jobIdOf(text);
    if (parsed !== null) return ok(parsed);
    const message = 'The platform accepted a job without a usable job_id.';
    return err({ message, isCertain: false, retryable: true });
  } catch (error) {
    const reason = toSingleLine(error instanceof Error ? error.message : String(error));
    const message = `The connection was lost while the job was submitted: ${reason}.`;
    return err({ message, isCertain: false, retryable: true });
  }
}

function refusal(status: number, text: string): SubmitFailure {
  const message = `The platform refused the job: ${status} ${toSingleLine(text)}.`;
  const retryable = status === 408 || status === 429 || status >= 500;
  return { message, isCertain: status < 500, retryable };
}

const submittedSchema = z.union([
  execReplySchema.transform(({ job_id: id }) => id),
  z.object({ id: execReplySchema.shape.job_id }).transform(({ id }) => id),
]);

function jobIdOf(text: string): string | null {
  try {
    return submittedSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** A job that has ended, or that the platform does not know, needs no cancel. */
export async function cancelHostedJob(
  platform: WorkerAddress,
  jobId: string,
): Promise<Result<null, string>> {
  const signal = AbortSignal.timeout(10_000);
  try {
    const request = { method: 'POST', path: cancelPath(jobId), signal } as const;
    const answer = await askWorker(platform, request);
    const status = answer.statusCode ?? 0;
    const text = await readText(answer, 5_000);
    if ((status >= 200 && status < 300) || status === 404 || status === 410) return ok(null);
    return err(`the platform answered the cancel with ${status} ${toSingleLine(text)}.`);
  } catch (error) {
    return err(`${toSingleLine(error instanceof Error ? error.message : String(error))}.`);
  }
}
