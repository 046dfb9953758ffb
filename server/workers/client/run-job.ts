// Runs one agent job from start to end: plan, instance, upload, run, download, import, and in every
// case destroying the instance.

import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { err, ok, type Result } from '../../core/failure.ts';
import { jobPrompt } from '../../core/work/job-files.ts';
import type { Instance, InstanceSpec, Provisioner } from '../provisioners/port.ts';
import type { WorkerAbilities } from '../wire.ts';
import { destroyInstance, type DestroyTimes } from './destroy.ts';
import { uploadCaps, type UploadCaps } from './exclusion.ts';
import { fetchResult, isHostile } from './fetch-result.ts';
import { type Fetched, readFetched, writeFetched } from './fetched.ts';
import {
  followJob,
  followTimes,
  followUntilStopped,
  type FollowTimes,
  type JobEnd,
  type JobOutput,
} from './follow-job.ts';
import { importResult } from './import-result.ts';
import { exitFile, firstLine, jobCommand, manifestFile } from './job-command.ts';
import { tellImport, tellPlan } from './job-notes.ts';
import { hasLease, instanceName, removeLease, writeLease } from './leases.ts';
import type { SentEntry } from './pack.ts';
import { badAddress, toSingleLine } from './request.ts';
import { followWork, type RunningSnapshots } from './running-work.ts';
import { type JobResult, resultCaps, type ResultCaps } from './unpack.ts';
import { beginUpload, type BegunUpload } from './upload.ts';
import { planUpload, type TreeListing, type UploadPlan } from './upload-plan.ts';
import type { Patience } from './while-away.ts';
import {
  cancelJob,
  healthTimes,
  startJob,
  waitForHealth,
  type HealthTimes,
} from './worker-calls.ts';

export interface JobTimes {
  readonly health?: HealthTimes;
  readonly follow?: FollowTimes;
  readonly destroy?: DestroyTimes;
  /** How long the job may continue after a stop request before its result is downloaded anyway. */
  readonly cancelMs?: number;
  /** Interval between two copies of a running job's work. */
  readonly snapshotMs?: number;
}

export interface JobRequest {
  readonly root: string;
  readonly listing: TreeListing;
  /** Lists the tree again, because it may contain work of a lost instance. */
  readonly relist: () => Promise<Result<TreeListing, string>>;
  readonly ignored: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly provisioner: Provisioner;
  readonly image: string | null;
  readonly ttlMs: number;
  /** Folder of the leases. */
  readonly leases: string;
  readonly owner: string;
  readonly follower: { readonly pid: number; readonly startTime: string };
  /** `<task id>/<attempt>/<part>`. */
  readonly run: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly prompt: string;
  /** Passed when the instance is created. May be secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Part of the command's text, so it must not contain secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files that the job leaves below its own folder, by name, with their local paths. */
  readonly brings: Readonly<Record<string, string>>;
  /** A folder that only this job uses; removed at the end. */
  readonly scratch: string;
  readonly output: JobOutput;
  /** Events of the job, for people. */
  readonly note: (text: string) => void;
  /**
   * When aborted, the job is asked to stop, its work is downloaded and the instance is destroyed.
   */
  readonly stop: AbortSignal;
  readonly uploadCaps?: UploadCaps;
  readonly resultCaps?: ResultCaps;
  readonly times?: JobTimes;
}

type Finishing = 'root' | 'ignored' | 'listing' | 'brings' | 'note' | 'scratch';

export type JobOutcome =
  | { readonly kind: 'ran'; readonly exitCode: number; readonly signal: string | null }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly retryable: boolean; readonly message: string };

/** How many instances one job may lose before its result is downloaded. */
const instancesMax = 3;
const cancelMsDefault = 5_000;

interface Trouble {
  /** Another instance may succeed at once, and no result was downloaded. */
  readonly again: boolean;
  /** Whether the whole attempt may succeed later, if that differs. */
  readonly later?: boolean;
  readonly message: string;
}

export async function runJob(request: JobRequest): Promise<JobOutcome> {
  const kept = readFetched(request.scratch);
  if (kept !== null) return finish(request, kept, 'ran');
  const planned = planUpload(request.root, request.listing, request.uploadCaps ?? uploadCaps);
  if (!planned.ok) return { kind: 'failed', retryable: false, message: planned.error };
  tellPlan(request.note, planned.value);
  let last: Trouble = { again: true, message: '' };
  for (let count = 1; count <= instancesMax; count += 1) {
    if (request.stop.aborted) return { kind: 'stopped' };
    const plan = count === 1 ? planned : await planAgain(request);
    if (!plan.ok) return { kind: 'failed', retryable: false, message: plan.error };
    const { ended, gone } = await onInstance(request, plan.value, count);
    if (ended.ok) {
      // The result is on the local disk, so its worker is destroyed while it is copied to the
      // worktree.
      const { fetched, kind } = ended.value;
      const [outcome] = await Promise.all([finish(request, fetched, kind), gone]);
      return outcome;
    }
    await gone;
    last = ended.error;
    if (!last.again || count === instancesMax) break;
    if (!request.stop.aborted) request.note(`${last.message} Trying another instance.`);
  }
  if (request.stop.aborted) return { kind: 'stopped' };
  return { kind: 'failed', retryable: last.later ?? last.again, message: last.message };
}

/** Uploads the lost instance's work so far to the next one. */
async function planAgain(request: JobRequest): Promise<Result<UploadPlan, string>> {
  const listing = await request.relist();
  if (!listing.ok) return listing;
  return planUpload(request.root, listing.value, request.uploadCaps ?? uploadCaps);
}

interface Brought {
  readonly kind: 'ran' | 'stopped';
  readonly fetched: Fetched;
}

interface Left {
  readonly ended: Result<Brought, Trouble>;
  /** Resolves when the instance is destroyed, or could not be. */
  readonly gone: Promise<void>;
}

/** The lease is on disk before the instance exists, and is removed when the instance is gone. */
async function onInstance(request: JobRequest, plan: UploadPlan, count: number): Promise<Left> {
  const { provisioner, owner, leases } = request;
  const spec: InstanceSpec = {
    name: instanceName(count),
    owner,
    token: randomBytes(32).toString('hex'),
    env: request.env,
    image: request.image,
    ttlMs: request.ttlMs,
  };
  const nowMs = Date.now();
  const lease = {
    name: spec.name,
    id: null,
    owner,
    run: request.run,
    pid: request.follower.pid,
    pidStart: request.follower.startTime,
    createdAtMs: nowMs,
    deadlineMs: nowMs + request.ttlMs,
    provisioner: provisioner.kind,
  };
  writeLease(leases, lease);
  // A worker takes time to start, and its files are packed during that time.
  const prompt = { name: jobPrompt, content: request.prompt };
  const upload = beginUpload(plan, [prompt], request.uploadCaps ?? uploadCaps);
  let instance: Instance | null = null;
  try {
    const created = await provisioner.create(spec, request.stop);
    if (!created.ok) {
      const { message, isCertain } = created.error;
      const words = `The worker could not be created: ${message}`;
      const ended = err({ again: false, later: true, message: words });
      if (!isCertain) return { ended, gone: destroyed(request, spec.name, null) };
      removeLease(leases, spec.name);
      return { ended, gone: Promise.resolve() };
    }
    instance = created.value;
    writeLease(leases, { ...lease, id: instance.id });
    const worked = await onWorker(hidingToken(request, instance.token), upload, instance);
    const ended = worked.ok ? worked : err(withoutSecret(worked.error, instance.token));
    return { ended, gone: destroyed(request, spec.name, instance) };
  } catch (error) {
    const said = toSingleLine(error instanceof Error ? error.message : String(error));
    const trouble = { again: true, message: `The remote attempt failed: ${said}.` };
    const ended = err(withoutSecret(trouble, instance?.token ?? spec.token));
    return { ended, gone: destroyed(request, spec.name, instance) };
  } finally {
    upload.drop();
  }
}

function withoutSecret(trouble: Trouble, secret: string): Trouble {
  return { ...trouble, message: withoutText(trouble.message, secret) };
}

async function destroyed(
  { provisioner, leases, owner, note, times }: JobRequest,
  name: string,
  instance: Instance | null,
): Promise<void> {
  await instance?.close?.().catch(() => undefined);
  const ref = { name, id: instance?.id ?? null };
  const left = await destroyInstance(provisioner, leases, ref, owner, times?.destroy);
  if (left !== null) note(left);
  else if (instance !== null) note(`Worker ${name} destroyed.`);
}

/**
 * The agent can learn the token, and workers repeat it in their errors, so it is removed from
 * everything that is stored.
 */
function hidingToken(request: JobRequest, token: string): JobRequest {
  const { output, note } = request;
  return {
    ...request,
    output: {
      onLine: (stream, line) => output.onLine(stream, withoutText(line, token)),
      onGap: (count) => output.onGap(count),
      onAway: (message) => output.onAway(withoutText(message, token)),
    },
    note: (text) => note(withoutText(text, token)),
  };
}

function withoutText(text: string, secret: string): string {
  return text.replaceAll(secret, '[hidden]');
}

async function onWorker(
  request: JobRequest,
  upload: BegunUpload,
  worker: Instance,
): Promise<Result<Brought, Trouble>> {
  const refused = badAddress(worker.url);
  if (refused !== null) return err({ again: false, message: refused });
  const health = await waitForHealth(worker, request.stop, request.times?.health ?? healthTimes);
  if (!health.ok) return err({ again: true, message: health.error });
  const kind = health.value.version === 0 ? 'stock' : `Drover ${health.value.version}`;
  request.note(`Worker ${worker.name} is ready (${request.provisioner.kind}, ${kind} runtime).`);
  const uploaded = await upload.send(worker, request.stop);
  if (!uploaded.ok) return uploaded;
  const sent = uploaded.value;
  const command = jobCommand({ ...request, uploaded: sent.keys() });
  const again = health.value.features.has('key') ? patienceOf(request, worker) : undefined;
  const job = await startJob(worker, command, request.stop, again);
  if (!job.ok) return err({ again: true, message: job.error });
  return await followAndFetch(request, sent, worker, {
    id: job.value,
    abilities: health.value,
  });
}

const snapshotMsDefault = 60_000;

function takeSnapshots(
  request: JobRequest,
  worker: Instance,
  sent: ReadonlyMap<string, SentEntry>,
): RunningSnapshots {
  const { root, ignored, resultCaps: caps, times } = request;
  return followWork(worker, {
    root,
    ignored,
    submodules: request.listing.submodules,
    scratch: `${request.scratch}.running`,
    sent,
    everyMs: times?.snapshotMs ?? snapshotMsDefault,
    ...(caps === undefined ? {} : { caps }),
  });
}

interface Job {
  readonly id: string;
  readonly abilities: WorkerAbilities;
}

async function followAndFetch(
  request: JobRequest,
  sent: ReadonlyMap<string, SentEntry>,
  worker: Instance,
  job: Job,
): Promise<Result<Brought, Trouble>> {
  const partial = job.abilities.features.has('partial')
    ? takeSnapshots(request, worker, sent)
    : null;
  const end = await follow(request, worker, job);
  const here = (await partial?.stop()) ?? sent;
  const isStopped = request.stop.aborted;
  const isForgotten = end.kind === 'lost' && end.isForgotten === true;
  if (end.kind === 'lost' && !isForgotten && !isStopped) {
    return err({ again: true, message: end.message });
  }
  const { scratch, resultCaps: caps = resultCaps } = request;
  const place = { scratch, caps, sent: here };
  const fetched = await fetchResult(worker, place, patienceOf(request, worker));
  if (!fetched.ok) {
    if (end.kind === 'lost') return err({ again: true, message: end.message });
    if (end.kind !== 'done') return err({ again: true, message: fetched.error });
    return err({ again: !isHostile(fetched.error), message: fetched.error });
  }
  const exit = exitOf(end, fetched.value);
  if (exit === null && !isStopped) {
    const message = end.kind === 'lost' ? end.message : 'The job ended without a status.';
    return err({ again: true, message });
  }
  const { jobFiles } = fetched.value;
  const wanted = [...jobFiles].filter(([name]) => Object.hasOwn(request.brings, name));
  const brought = {
    exitCode: exit ?? -1,
    signal: end.kind === 'done' ? end.signal : null,
    sent: here,
    result: { ...fetched.value, jobFiles: new Map(wanted) },
  };
  writeFetched(request.scratch, brought);
  return ok({ kind: isStopped ? 'stopped' : 'ran', fetched: brought });
}

/**
 * From the stream's last event, or from the file that the job leaves if a runtime loses that event.
 * A job that the runtime has forgotten may still run, so its file counts only together with its
 * list of files.
 */
function exitOf(end: JobEnd, result: JobResult): number | null {
  if (end.kind === 'done') return end.exitCode;
  if (end.kind === 'lost' && !result.jobFiles.has(manifestFile)) return null;
  const text = result.jobFiles.get(exitFile)?.trim() ?? '';
  return /^\d{1,3}$/.test(text) ? Number(text) : null;
}

async function follow(request: JobRequest, worker: Instance, job: Job): Promise<JobEnd> {
  let isFirst = true;
  const own: JobOutput = {
    onLine: (stream, line) => {
      const isOurs = isFirst && line === firstLine;
      isFirst = false;
      if (!isOurs) request.output.onLine(stream, line);
    },
    onGap: (count) => request.output.onGap(count),
    onAway: (message) => request.output.onAway(message),
  };
  const { times, isGone } = patienceOf(request, worker);
  const options = { times, isGone };
  const stop = {
    signal: request.stop,
    cancel: () => cancelJob(worker, job.id, job.abilities),
    waitMs: request.times?.cancelMs ?? cancelMsDefault,
  };
  return await followUntilStopped(stop, (over) => followJob(worker, job.id, own, over, options));
}

function patienceOf(request: JobRequest, worker: Instance): Patience {
  const isGone = async (): Promise<boolean> =>
    !hasLease(request.leases, worker.name) ||
    ((await request.provisioner.isGone?.(worker)) ?? false);
  return { times: request.times?.follow ?? followTimes, isGone, stop: request.stop };
}

export async function finish(
  request: Pick<JobRequest, Finishing>,
  fetched: Fetched,
  kind: 'ran' | 'stopped',
): Promise<JobOutcome> {
  const { root, ignored, listing } = request;
  const { submodules } = listing;
  const imported = await importResult({ root, ignored, submodules, ...fetched });
  for (const [name, content] of fetched.result.jobFiles) {
    const path = request.brings[name];
    if (path !== undefined) writeFileSync(path, content, { mode: 0o600 });
  }
  tellImport(request.note, imported);
  rmSync(request.scratch, { recursive: true, force: true });
  if (kind === 'stopped') return { kind };
  return { kind, exitCode: fetched.exitCode, signal: fetched.signal };
}
