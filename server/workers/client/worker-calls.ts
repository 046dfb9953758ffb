// The contract's requests besides the stream: health, upload, exec, cancel, download. Failures are
// sentences.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { err, ok, type Result } from '../../core/failure.ts';
import { execReplySchema } from '../wire-schemas.ts';
import {
  cancelPath,
  execPath,
  healthPath,
  readWorkerHeader,
  unauthorizedText,
  workerHeaderName,
  workspacePath,
  type WorkerAbilities,
} from '../wire.ts';
import { softCancelCommand } from './job-command.ts';
import { askWorker, toSingleLine, readText, type WorkerAddress } from './request.ts';
import { type Patience, type RequestFailure, retryWhileUnreachable } from './while-away.ts';

export interface HealthTimes {
  /** A runtime that has almost started responds within this time, or two or four times as much. */
  readonly firstMs: number;
  readonly stepMs: number;
  readonly longestStepMs: number;
  readonly limitMs: number;
  readonly requestMs: number;
}

export const healthTimes: HealthTimes = {
  firstMs: 10,
  stepMs: 200,
  longestStepMs: 2_000,
  limitMs: 90_000,
  requestMs: 5_000,
};

/** After this many consecutive rejections of the token, the problem is not temporary. */
const refusalsMax = 3;

/** Pauses between two requests: doubled up to the step, then increased by one step each. */
export function* healthPauses(
  times: Pick<HealthTimes, 'firstMs' | 'stepMs' | 'longestStepMs'>,
): Generator<number, never> {
  for (let waitMs = times.firstMs; ;) {
    yield waitMs;
    const isShort = waitMs < times.stepMs;
    waitMs = isShort ? Math.min(waitMs * 2, times.stepMs) : waitMs + times.stepMs;
    waitMs = Math.min(waitMs, times.longestStepMs);
  }
}

/** Waits until the worker responds. */
export async function waitForHealth(
  worker: WorkerAddress,
  signal: AbortSignal,
  times: HealthTimes = healthTimes,
): Promise<Result<WorkerAbilities, string>> {
  const endsAt = performance.now() + times.limitMs;
  let refusals = 0;
  let last = 'no answer';
  const pauses = healthPauses(times);
  while (!signal.aborted) {
    try {
      const answer = await askWorker(worker, {
        method: 'GET',
        path: healthPath,
        signal,
        answerMs: times.requestMs,
      });
      const body = await readText(answer, times.requestMs);
      if (answer.statusCode === 200) {
        const header = answer.headers[workerHeaderName];
        return ok(readWorkerHeader(typeof header === 'string' ? header : undefined));
      }
      last = `${answer.statusCode} ${toSingleLine(body)}`.trim();
      const isRefusal =
        (answer.statusCode === 401 || answer.statusCode === 403) &&
        body.trim() === unauthorizedText;
      refusals = isRefusal ? refusals + 1 : 0;
      if (refusals >= refusalsMax) return err('The worker rejects the token.');
    } catch (error) {
      refusals = 0;
      last = toSingleLine(error instanceof Error ? error.message : String(error));
    }
    const waitMs = pauses.next().value;
    if (performance.now() + waitMs > endsAt) break;
    await delay(waitMs, null, { signal }).catch(() => null);
  }
  if (signal.aborted) return err('The wait for the worker was canceled.');
  const seconds = Math.round(times.limitMs / 1000);
  return err(`The worker was not ready within ${seconds} s (last: ${last}).`);
}

/** Returns null once uploaded. */
export async function uploadWorkspace(
  worker: WorkerAddress,
  body: Readable,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const answer = await askWorker(worker, {
      method: 'POST',
      path: workspacePath,
      headers: { 'content-type': 'application/gzip' },
      body,
      signal,
    });
    const text = await readText(answer);
    if (answer.statusCode === 200) return await sentWhole(body);
    return `The worker refused the upload: ${answer.statusCode} ${toSingleLine(text)}.`;
  } catch (error) {
    const reason = toSingleLine(error instanceof Error ? error.message : String(error));
    // The response may have been lost together with the connection.
    const health = await statusOf(worker, signal);
    if (health === 401) return `The worker refused the upload: 401 ${unauthorizedText}.`;
    return `The upload was interrupted: ${reason}.`;
  }
}

/** An incomplete upload that a worker accepted does not count. */
async function sentWhole(body: Readable): Promise<string | null> {
  try {
    if (!body.readableEnded) await finished(body, { signal: AbortSignal.timeout(lateEndMs) });
    return null;
  } catch {
    return 'The worker accepted the upload before it had received all of it.';
  }
}

/** A response may arrive before the last bytes of the body are sent. */
const lateEndMs = 2_000;

async function statusOf(worker: WorkerAddress, signal: AbortSignal): Promise<number | null> {
  try {
    const request = { method: 'GET', path: healthPath, signal, answerMs: 5_000 } as const;
    const answer = await askWorker(worker, request);
    answer.destroy();
    return answer.statusCode ?? null;
  } catch {
    return null;
  }
}

/**
 * Sent once, because after an error it is unknown whether the job runs. With a key, which the
 * runtime must support, it is repeated until the response arrives, and starts only one job.
 */
export async function startJob(
  worker: WorkerAddress,
  command: string,
  signal: AbortSignal,
  again?: Patience,
): Promise<Result<string, string>> {
  const key = randomBytes(16).toString('hex');
  const body = JSON.stringify(again === undefined ? { command } : { command, key });
  const start = (): Promise<Result<string, RequestFailure>> => startOnce(worker, body, signal);
  if (again !== undefined) return await retryWhileUnreachable(again, start);
  const started = await start();
  return started.ok ? started : err(started.error.message);
}

async function startOnce(
  worker: WorkerAddress,
  body: string,
  signal: AbortSignal,
): Promise<Result<string, RequestFailure>> {
  const refused = (message: string) => err({ message, isInterrupted: false });
  try {
    const answer = await askWorker(worker, {
      method: 'POST',
      path: execPath,
      headers: { 'content-type': 'application/json' },
      body,
      signal,
      answerMs: 60_000,
    });
    const text = await readText(answer);
    if (answer.statusCode !== 200) {
      return refused(
        `The worker did not start the job: ${answer.statusCode} ${toSingleLine(text)}.`,
      );
    }
    const parsed = execReplySchema.safeParse(JSON.parse(text));
    if (parsed.success) return ok(parsed.data.job_id);
    return refused('The worker started a job without a usable job_id.');
  } catch (error) {
    if (error instanceof SyntaxError) {
      return refused('The worker started a job without a usable job_id.');
    }
    const reason = toSingleLine(error instanceof Error ? error.message : String(error));
    const message = `The connection was lost while the job started: ${reason}.`;
    return err({ message, isInterrupted: true });
  }
}

/**
 * Asks the job to stop. Returns true if the worker understood. A runtime without cancel is asked by
 * a second command.
 */
export async function cancelJob(
  worker: WorkerAddress,
  jobId: string,
  abilities: WorkerAbilities,
): Promise<boolean> {
  const signal = AbortSignal.timeout(5_000);
  if (abilities.features.has('cancel')) {
    try {
      const request = { method: 'POST', path: cancelPath(jobId), signal } as const;
      const answer = await askWorker(worker, request);
      answer.destroy();
      if (answer.statusCode === 202) return true;
    } catch {
      return false;
    }
  }
  const ended = await startJob(worker, softCancelCommand, signal);
  return ended.ok;
}

export async function openDownload(
  worker: WorkerAddress,
  signal: AbortSignal,
): Promise<Result<IncomingMessage, RequestFailure>> {
  try {
    const request = { method: 'GET', path: workspacePath, signal } as const;
    const answer = await askWorker(worker, request);
    if (answer.statusCode === 200) return ok(answer);
    const text = await readText(answer);
    const message = `The worker did not send the result: ${answer.statusCode} ${toSingleLine(text)}.`;
    return err({ message, isInterrupted: false });
  } catch (error) {
    const reason = toSingleLine(error instanceof Error ? error.message : String(error));
    return err({ message: `The download was interrupted: ${reason}.`, isInterrupted: true });
  }
}
