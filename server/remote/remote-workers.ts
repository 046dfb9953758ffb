// `drover remote`: lists workers, tests whether one can be created, and destroys one. Needs no
// backend.

import { randomBytes } from 'node:crypto';
import { Refusal } from '../core/failure.ts';
import { destroyInstance } from '../workers/client/destroy.ts';
import {
  instanceName,
  type Lease,
  readLeases,
  removeLease,
  writeLease,
} from '../workers/client/leases.ts';
import { planUpload } from '../workers/client/upload-plan.ts';
import { waitForHealth } from '../workers/client/worker-calls.ts';
import type { HostKeys, InstanceRef, Provisioner } from '../workers/provisioners/port.ts';
import { processStartTime } from '../agents/kit/process/process-list.ts';
import { LiveSettings } from '../project/live-settings.ts';
import { readMachineId, projectPlaces } from '../project/project-places.ts';
import { withoutMark } from '../project/project-mark.ts';
import { isFollowed, leaseOwner, RemoteAttempts } from './remote-attempts.ts';
import type { WorkerSettings } from './remote-spec.ts';
import { openTreeReader } from './tree-listing.ts';
import { previewTree } from './preview-tree.ts';
import type {
  HostKeyView,
  RemoteList,
  RemotePreview,
  RemoteTest,
  WorkerView,
} from '../protocol/remote-views.ts';

export interface RemoteRequest {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Refuses a provisioner that only the project names, because even listing starts programs. */
async function open({ root, env }: RemoteRequest): Promise<RemoteAttempts> {
  const live = await LiveSettings.load(root, env, {});
  live.refuseUnaccepted('remote.');
  const parts = { live, places: projectPlaces(root, null), machineId: '' };
  return new RemoteAttempts(parts, () => undefined);
}

export async function listRemote(request: RemoteRequest): Promise<RemoteList> {
  return (await found(request, await open(request))).list;
}

interface Found {
  readonly list: RemoteList;
  /** Workers without a lease, as the provisioner identifies them, with their owners. */
  readonly unleased: ReadonlyMap<string, { readonly ref: InstanceRef; readonly owner: string }>;
}

async function found({ root }: RemoteRequest, remote: RemoteAttempts): Promise<Found> {
  const settings = remote.workerSettings();
  const { leases, unreadable } = readLeases(remote.leases);
  const workers: WorkerView[] = leases.map((lease) => ({
    name: lease.name,
    provisioner: lease.provisioner,
    run: withoutMark(lease.run, root),
    state: isFollowed(lease) ? 'running' : 'left',
    created_at: Math.floor(lease.createdAtMs / 1000),
  }));
  const problems = unreadable.map((name) => `The lease ${name} cannot be read.`);
  const provisioner = settings?.provisioner ?? null;
  const unleased = new Map<string, { readonly ref: InstanceRef; readonly owner: string }>();
  if (settings === null) return { list: { provisioner, workers, problems }, unleased };
  const known = new Set(workers.map(({ name }) => name));
  // A fleet's backend creates workers as its machine, whether or not it is running now.
  const places = projectPlaces(root, null);
  const machineId = readMachineId(places.folder) ?? '';
  const owners = [
    remote.owner,
    leaseOwner({ places, machineId }),
    ...leases.map(({ owner }) => owner),
  ];
  for (const owner of new Set(owners)) {
    const listed = await remote.open(settings).list(owner);
    if (!listed.ok)
      problems.push(`${settings.provisioner} cannot list its workers: ${listed.error}`);
    const others = listed.ok ? listed.value.filter(({ name }) => !known.has(name)) : [];
    for (const ref of others) {
      const { name } = ref;
      known.add(name);
      unleased.set(name, { ref, owner });
      const { provisioner: kind } = settings;
      workers.push({ name, provisioner: kind, run: null, state: 'unknown', created_at: null });
    }
  }
  return { list: { provisioner, workers, problems }, unleased };
}

/** Previews the project's own folder. An attempt's worktree has only the committed files of it. */
export async function previewRemote({ root, env }: RemoteRequest): Promise<RemotePreview> {
  const { settings } = await LiveSettings.load(root, env, {});
  const none = { files: 0, bytes: 0, largest: [], secrets: [], notices: [], ...previewTree(null) };
  const { provisioner } = settings.remote;
  const common = { provisioner, env: [...settings.remote.env, ...Object.keys(settings.agent.env)] };
  const listing = await openTreeReader(root, env).list();
  if (!listing.ok) return { ...none, ...common, refused: listing.error };
  const planned = planUpload(root, listing.value);
  if (!planned.ok) return { ...none, ...common, refused: planned.error };
  const { files, bytes, largest, excludedSecrets: secrets, notices } = planned.value;
  const tree = previewTree(planned.value);
  return { ...common, files, bytes, largest, secrets, notices, ...tree, refused: null };
}

/**
 * Creates a worker, waits until it responds, and destroys it. `accept`: the fingerprint of the host
 * key that the user accepts before that.
 */
export async function testRemote(
  request: RemoteRequest,
  accept: string | null,
): Promise<RemoteTest> {
  const remote = await open(request);
  const settings = remote.workerSettings();
  if (settings === null) {
    throw new Refusal(
      'no_provisioner',
      'No provisioner is set. Set [remote] provisioner in .drover.toml.',
    );
  }
  const provisioner = remote.open(settings);
  const { hostKeys } = provisioner;
  if (accept !== null && hostKeys === undefined) {
    const words = `Workers by ${provisioner.kind} run on no host whose key can be accepted.`;
    throw new Refusal('no_provisioner', words);
  }
  const startedAt = performance.now();
  const refused = await refusedKey(hostKeys, accept);
  const message = refused?.message ?? (await tryOne(remote, provisioner, settings));
  return {
    provisioner: settings.provisioner,
    ok: message === null,
    message:
      message ??
      (settings.provisioner === 'hosted'
        ? 'The platform answered.'
        : 'A worker was created, answered and was destroyed.'),
    host_key: refused?.key ?? null,
    ms: Math.round(performance.now() - startedAt),
  };
}

interface RefusedKey {
  readonly message: string;
  /** Null if it could not be determined. */
  readonly key: HostKeyView | null;
}

/** Returns null if no host key prevents it. */
async function refusedKey(
  hostKeys: HostKeys | undefined,
  accept: string | null,
): Promise<RefusedKey | null> {
  if (hostKeys === undefined) return null;
  const notAccepted = accept === null ? null : await hostKeys.accept(accept);
  const key = await hostKeys.refused();
  if (!key.ok) return { message: notAccepted ?? key.error, key: null };
  if (key.value === null) return null;
  const { host, kind, fingerprint, isChanged: changed } = key.value;
  const message = notAccepted ?? hostKeys.sentence(key.value);
  return { message, key: { host, kind, fingerprint, changed } };
}

/** Returns null if it works. */
async function tryOne(
  remote: RemoteAttempts,
  provisioner: Provisioner,
  { image, ttlMs }: Pick<WorkerSettings, 'image' | 'ttlMs'>,
): Promise<string | null> {
  const { leases, owner } = remote;
  const name = instanceName(0);
  const nowMs = Date.now();
  const lease: Lease = {
    name,
    id: null,
    owner,
    run: 'remote test',
    pid: process.pid,
    pidStart: processStartTime(process.pid) ?? '',
    createdAtMs: nowMs,
    deadlineMs: nowMs + ttlMs,
    provisioner: provisioner.kind,
  };
  writeLease(leases, lease);
  const signal = AbortSignal.timeout(testMs);
  const spec = { name, owner, token: randomBytes(32).toString('hex'), env: {}, image, ttlMs };
  const made = await provisioner.create(spec, signal);
  if (!made.ok && made.error.isCertain) {
    removeLease(leases, name);
    return made.error.message;
  }
  const health = made.ok ? await waitForHealth(made.value, signal) : null;
  if (made.ok) await made.value.close?.();
  const ref = { name, id: made.ok ? made.value.id : null };
  const left = await destroyInstance(provisioner, leases, ref, owner);
  if (!made.ok) return left === null ? made.error.message : `${made.error.message} ${left}`;
  return health?.ok === false ? health.error : left;
}

const testMs = 5 * 60_000;

export async function destroyRemote(
  request: RemoteRequest,
  name: string,
  force: boolean,
): Promise<{ readonly name: string; readonly destroyed: true }> {
  const remote = await open(request);
  const { list, unleased } = await found(request, remote);
  const worker = list.workers.find((one) => one.name === name);
  if (worker === undefined) {
    throw new Refusal('unknown_id', `Worker ${name} does not exist. Run "drover remote list".`);
  }
  if (worker.state === 'running' && !force) {
    const words = `Worker ${name} runs ${worker.run ?? 'a task'}. Cancel or pause the task, or use --force.`;
    throw new Refusal('worker_running', words);
  }
  const settings = remote.workerSettings();
  if (settings?.provisioner !== worker.provisioner) {
    const words = `Worker ${name} was created by ${worker.provisioner}. Set [remote] provisioner to ${worker.provisioner}.`;
    throw new Refusal('no_provisioner', words);
  }
  const lease = readLeases(remote.leases).leases.find((one) => one.name === name);
  const other = unleased.get(name);
  const ref = lease ?? other?.ref ?? { name, id: null };
  const owner = lease?.owner ?? other?.owner ?? remote.owner;
  const left = await destroyInstance(remote.open(settings), remote.leases, ref, owner);
  if (left !== null) throw new Refusal('not_destroyed', left);
  return { name, destroyed: true };
}
