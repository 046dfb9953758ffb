// One job of the hosted path from start to end: plan, base commit, submit, follow the event log,
// fetch the job branch, import. The platform gets the files that a worker would get, without any
// history.

import { setTimeout as delay } from 'node:timers/promises';
import { mkdirSync, rmSync } from 'node:fs';
import { err, ok, type Result } from '../../core/failure.ts';
import { uploadCaps } from '../client/exclusion.ts';
import { readFetched, writeFetched, type Fetched } from '../client/fetched.ts';
import { followJob, followTimes, followUntilStopped, type JobEnd } from '../client/follow-job.ts';
import { tellPlan } from '../client/job-notes.ts';
import { instanceName, removeLease, writeLease } from '../client/leases.ts';
import type { SentEntry } from '../client/pack.ts';
import { badAddress, type WorkerAddress } from '../client/request.ts';
import { finish, type JobOutcome, type JobRequest } from '../client/run-job.ts';
import type { JobResult } from '../client/unpack.ts';
import { planUpload, type UploadPlan } from '../client/upload-plan.ts';
import { cancelHostedJob, jobBranch, submitJob } from './platform-calls.ts';

export interface HostedBase {
  readonly sha: string;
  readonly sent: ReadonlyMap<string, SentEntry>;
}

/** The git part of the hosted path, in a repository only for the job. Errors are sentences. */
export interface HostedGit {
  /** Creates a commit without a parent from the plan's files, and pushes it as `ref`. */
  pushBase(plan: UploadPlan, ref: string): Promise<Result<HostedBase, string>>;
  /**
   * Fetches the commit of the branch, which must descend from the base. Returns null if the branch
   * does not exist.
   */
  fetchBranch(branch: string, base: HostedBase): Promise<Result<JobResult | null, string>>;
  removeBase(ref: string): Promise<void>;
}

export interface HostedRequest extends Pick<
  JobRequest,
  | 'root'
  | 'listing'
  | 'ignored'
  | 'leases'
  | 'owner'
  | 'follower'
  | 'run'
  | 'prompt'
  | 'brings'
  | 'scratch'
  | 'output'
  | 'note'
  | 'stop'
  | 'ttlMs'
  | 'uploadCaps'
  | 'times'
> {
  readonly platform: WorkerAddress;
  readonly git: HostedGit;
  /**
   * The agent's result file, if the branch has none, because no documentation promises it and the
   * event log ends with the exit code.
   */
  readonly statusFile: { readonly name: string; readonly content: (exitCode: number) => string };
  readonly branchTimes?: BranchTimes;
}

/** A branch may be pushed shortly after the log reports the job's end. */
export interface BranchTimes {
  readonly looks: number;
  readonly everyMs: number;
}

const branchTimesUsual: BranchTimes = { looks: 4, everyMs: 1_500 };
/** How long to wait after a cancel before the partial result counts. */
const cancelMsUsual = 10_000;

type Failed = Extract<JobOutcome, { readonly kind: 'failed' }>;

const failed = (retryable: boolean, message: string): Failed => ({
  kind: 'failed',
  retryable,
  message,
});

export async function runHostedJob(request: HostedRequest): Promise<JobOutcome> {
  const kept = readFetched(request.scratch);
  if (kept !== null) return await finish(request, kept, 'ran');
  const refused = badAddress(request.platform.url);
  if (refused !== null) return failed(false, refused);
  const planned = planUpload(request.root, request.listing, request.uploadCaps ?? uploadCaps);
  if (!planned.ok) return failed(false, planned.error);
  tellPlan(request.note, planned.value);
  const name = instanceName(1);
  const ref = `refs/heads/drover/base/${name}`;
  rmSync(request.scratch, { recursive: true, force: true });
  mkdirSync(request.scratch, { recursive: true, mode: 0o700 });
  const ended = await fromBase(request, planned.value, { name, ref });
  if (ended.ok) return await finish(request, ended.value, request.stop.aborted ? 'stopped' : 'ran');
  return request.stop.aborted ? { kind: 'stopped' } : ended.error;
}

async function fromBase(
  request: HostedRequest,
  plan: UploadPlan,
  { name, ref }: Omit<Submitted, 'base'>,
): Promise<Result<Fetched, Failed>> {
  try {
    const base = await request.git.pushBase(plan, ref);
    if (!base.ok) return err(failed(true, base.error));
    if (request.stop.aborted) return err(failed(true, 'The job was stopped.'));
    return await submitAndFollow(request, { name, ref, base: base.value });
  } finally {
    await request.git.removeBase(ref);
  }
}

interface Submitted {
  readonly name: string;
  readonly ref: string;
  readonly base: HostedBase;
}

/** The lease is on disk before the job exists, and is removed when the job has certainly ended. */
async function submitAndFollow(
  request: HostedRequest,
  job: Submitted,
): Promise<Result<Fetched, Failed>> {
  const { platform, leases, note } = request;
  const nowMs = Date.now();
  const lease = {
    name: job.name,
    id: null,
    owner: request.owner,
    run: request.run,
    pid: request.follower.pid,
    pidStart: request.follower.startTime,
    createdAtMs: nowMs,
    deadlineMs: nowMs + request.ttlMs,
    provisioner: 'hosted',
  } as const;
  writeLease(leases, lease);
  // The stop does not abort this, because a job that was created must be known to be canceled.
  const submitted = await submitJob(
    platform,
    {
      name: job.name,
      prompt: request.prompt,
      ref: job.ref,
      baseSha: job.base.sha,
      timeoutSecs: Math.round(request.ttlMs / 1000),
    },
    new AbortController().signal,
  );
  if (!submitted.ok) {
    const { isCertain, retryable, message } = submitted.error;
    if (!isCertain) note(`The platform may still run a job named ${job.name}.`);
    removeLease(leases, job.name);
    return err(failed(retryable, message));
  }
  const id = submitted.value;
  writeLease(leases, { ...lease, id });
  note(`Job ${id} is submitted to ${new URL(platform.url).host}.`);
  const end = await follow(request, id);
  const problem = end.kind === 'done' ? null : await canceled(platform, id);
  if (problem === null) removeLease(leases, job.name);
  else note(`Job ${id} could not be canceled: ${problem} Run "drover remote destroy ${job.name}".`);
  return await fetched(request, job, id, end);
}

async function canceled(platform: WorkerAddress, id: string): Promise<string | null> {
  const asked = await cancelHostedJob(platform, id);
  return asked.ok ? null : asked.error;
}

async function follow(request: HostedRequest, id: string): Promise<JobEnd> {
  const { platform, stop, times } = request;
  const options = { times: times?.follow ?? followTimes };
  const stopping = {
    signal: stop,
    cancel: () => canceled(platform, id),
    waitMs: times?.cancelMs ?? cancelMsUsual,
  };
  return await followUntilStopped(stopping, (over) =>
    followJob(platform, id, request.output, over, options),
  );
}

async function fetched(
  request: HostedRequest,
  job: Submitted,
  id: string,
  end: JobEnd,
): Promise<Result<Fetched, Failed>> {
  const isStopped = request.stop.aborted;
  if (end.kind !== 'done' && !isStopped) {
    const why = end.kind === 'lost' ? end.message : 'The event log ended without a status.';
    return err(failed(true, `${why} If the job made a branch, it is ${shown(id)} there.`));
  }
  const { looks, everyMs } = request.branchTimes ?? branchTimesUsual;
  let result: JobResult | null = null;
  for (let look = 1; result === null && look <= looks; look += 1) {
    if (look > 1) await delay(everyMs);
    const branch = await request.git.fetchBranch(jobBranch(id), job.base);
    if (!branch.ok) return err(failed(false, branch.error));
    result = branch.value;
  }
  if (result === null) request.note(`The job made no branch ${shown(id)}: it changed nothing.`);
  const exitCode = end.kind === 'done' ? end.exitCode : -1;
  const { name, content } = request.statusFile;
  const own = new Map([[name, content(exitCode)], ...(result?.jobFiles ?? [])]);
  const brought = {
    exitCode,
    signal: end.kind === 'done' ? end.signal : null,
    sent: job.base.sent,
    result: { ...(result ?? unchanged()), jobFiles: own },
  };
  writeFetched(request.scratch, brought);
  return ok(brought);
}

const shown = (id: string): string => jobBranch(id).replace('refs/heads/', '');

/** A result that removes nothing. */
function unchanged(): JobResult {
  return {
    files: new Map(),
    links: new Map(),
    jobFiles: new Map(),
    isComplete: false,
    notices: [],
  };
}
