// Removes rows, logs and refs that the retention settings no longer keep: rows in small
// transactions with pauses, logs on this machine's disk, and refs of snapshots.

import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bytesOfRefs, type KeptRef, listKeptRefs, removeKeptRefs } from '../git/refs/old-refs.ts';
import type { SharedSnapshot, SharedWork } from '../git/remote/old-work.ts';
import { folderSize } from '../files/folder-size.ts';
import type { PruneReport } from '../protocol/prune-report.ts';
import {
  closedEpics,
  pastTasks,
  pruneEvents,
  type PruneRun,
  recentlyChanged,
  type Removed,
} from '../store/history/prune.ts';
import {
  forgetRescueRefs,
  pruneDeliveries,
  pruneNotes,
  prunePast,
  pruneVerdicts,
} from '../store/history/prune-rows.ts';
import { namedAttachments } from '../store/history/named-attachments.ts';
import { keptAttachments } from '../project/attachments.ts';
import type { Project } from '../project/opened-project.ts';

export interface PruneOptions {
  readonly isDry: boolean;
  readonly signal: AbortSignal;
  /** `own`: only this machine's disk. Another machine of the fleet removes the rest. */
  readonly scope: 'all' | 'own';
}

/** Stored steps of workflows that have ended. */
export interface DoneWork {
  forget(olderThanMs: number): Promise<number>;
}

type PruneProject = Pick<Project, 'store' | 'live' | 'places' | 'local'> & {
  readonly fleet: { readonly work: SharedWork } | null;
};

/** Pause between two transactions, so that a step of a run waits for at most one of them. */
const pauseMs = 5;
const ownersAtOnce = 50;
/**
 * An image is stored before the description that names it is saved, and a draft can wait for days.
 */
const unnamedKeptMs = 7 * 24 * 3_600_000;

export async function prune(
  project: PruneProject,
  durable: DoneWork,
  { isDry, signal, scope }: PruneOptions,
): Promise<PruneReport> {
  const { store, live } = project;
  const { retention } = live.settings;
  const nowMs = store.sources.clock.now();
  const run: PruneRun = {
    store,
    isDry,
    yieldTurn: async () => {
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
      return !signal.aborted;
    },
  };
  const nothing: Removed = { count: 0, bytes: 0 };
  const of = async (
    ageMs: number,
    work: (beforeMs: number) => Promise<Removed>,
  ): Promise<Removed> =>
    Number.isFinite(ageMs) && !signal.aborted ? work(nowMs - ageMs) : nothing;
  const shared: typeof of = async (ageMs, work) => (scope === 'all' ? of(ageMs, work) : nothing);
  const removed = {
    past: await shared(retention.pastMs, (beforeMs) => prunePast(run, beforeMs)),
    // Earlier states are found by their events.
    events: await shared(Math.max(retention.eventsMs, retention.pastMs), (beforeMs) =>
      pruneEvents(run, beforeMs),
    ),
    logs: await of(retention.logsMs, (beforeMs) => pruneLogs(project, run, beforeMs)),
    snapshots: await of(retention.snapshotsMs, async (beforeMs) => {
      const here = await pruneRefs(project, run, beforeMs);
      const elsewhere = scope === 'all' ? await pruneSharedWork(project, run, beforeMs) : 0;
      return { count: here.count + elsewhere, bytes: here.bytes };
    }),
    verdicts: await shared(retention.verdictsMs, (beforeMs) => pruneVerdicts(run, beforeMs)),
    webhooks: await shared(retention.webhooksMs, (beforeMs) => pruneDeliveries(run, beforeMs)),
    notes: await shared(retention.notesMs, (beforeMs) => pruneNotes(run, beforeMs)),
    steps: isDry
      ? nothing
      : await shared(retention.stepsMs, async () => {
          return { count: await durable.forget(retention.stepsMs), bytes: 0 };
        }),
    attachments: await of(unnamedKeptMs, (beforeMs) => pruneAttachments(project, run, beforeMs)),
  };
  const rows = (Object.keys(removed) as (keyof typeof removed)[]).map((kind) => {
    return { kind, ...removed[kind] };
  });
  return { dry_run: isDry, removed: rows, bytes: rows.reduce((sum, row) => sum + row.bytes, 0) };
}

/** Returns the tasks whose work was over before the time and that nothing unfinished links to. */
async function longOver(
  { store }: PruneProject,
  ids: readonly string[],
  beforeMs: number,
): Promise<readonly string[]> {
  const past = [...(await pastTasks(store.db, ids))];
  const recent = await recentlyChanged(store.db, past, beforeMs);
  return past.filter((id) => !recent.has(id));
}

/** Log folders are named after their tasks. Anything else there is not ours to remove. */
async function pruneLogs(project: PruneProject, run: PruneRun, beforeMs: number): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  const { logs } = project.places;
  const names = await readdir(logs).catch((): string[] => []);
  for (let at = 0; at < names.length; at += ownersAtOnce) {
    if (!(await run.yieldTurn())) break;
    const ids = await longOver(project, names.slice(at, at + ownersAtOnce), beforeMs);
    for (const id of ids) {
      const folder = join(logs, id);
      if ((await lstat(folder).catch(() => null))?.isDirectory() !== true) continue;
      const { count, bytes } = await folderSize(folder);
      removed.count += count;
      removed.bytes += bytes;
      if (!run.isDry) await rm(folder, { recursive: true, force: true });
    }
  }
  return removed;
}

/** Images that no description names any more. */
async function pruneAttachments(
  { places }: PruneProject,
  run: PruneRun,
  beforeMs: number,
): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  const old = (await keptAttachments(places)).filter(({ atMs }) => atMs < beforeMs);
  if (old.length === 0) return removed;
  const named = await namedAttachments(run);
  for (const { name, bytes } of old) {
    if (named === null || named.has(name)) continue;
    removed.count += 1;
    removed.bytes += bytes;
    if (!run.isDry) await rm(join(places.attachments, name), { force: true });
  }
  return removed;
}

async function pruneRefs(project: PruneProject, run: PruneRun, beforeMs: number): Promise<Removed> {
  const removed: Removed = { count: 0, bytes: 0 };
  const { context } = project.local;
  const listed = await listKeptRefs(context);
  if (!listed.ok) throw new Error(listed.error.message);
  const old = listed.value.filter(({ atMs }) => atMs < beforeMs);
  const going: KeptRef[] = [];
  for (let at = 0; at < old.length; at += ownersAtOnce) {
    if (!(await run.yieldTurn())) return removed;
    const part = old.slice(at, at + ownersAtOnce);
    const owners = (kind: KeptRef['kind']): string[] => [
      ...new Set(part.filter((one) => one.kind === kind).map(({ owner }) => owner)),
    ];
    const tasks = new Set(await longOver(project, owners('snapshot'), beforeMs));
    // An approval belongs to an epic's tree or a task's commit.
    const epics = await closedEpics(project.store.db, owners('approval'));
    const approved = new Set([
      ...epics,
      ...(await longOver(project, owners('approval'), beforeMs)),
    ]);
    const isOver = { snapshot: tasks, approval: approved };
    going.push(...part.filter(({ kind, owner }) => isOver[kind].has(owner)));
  }
  removed.count = going.length;
  removed.bytes = await bytesOfRefs(context, going);
  if (run.isDry || going.length === 0) return removed;
  const gone = await removeKeptRefs(context, going);
  if (!gone.ok) throw new Error(gone.error.message);
  const byTask = new Map<string, string[]>();
  for (const { kind, owner, ref } of going) {
    if (kind === 'snapshot') byTask.set(owner, [...(byTask.get(owner) ?? []), ref]);
  }
  await forgetRescueRefs(project.store, byTask);
  return removed;
}

/**
 * Snapshots on the shared remote, whichever machine made them, and this clone's copies. Resolves
 * with their number.
 */
async function pruneSharedWork(
  project: PruneProject,
  run: PruneRun,
  beforeMs: number,
): Promise<number> {
  if (project.fleet === null) return 0;
  const { work } = project.fleet;
  const listed = await work.list();
  // An unreachable remote is handled next time.
  if (!listed.ok) return 0;
  const going: SharedSnapshot[] = [];
  const owners = [...new Set(listed.value.map(({ owner }) => owner))];
  for (let at = 0; at < owners.length; at += ownersAtOnce) {
    if (!(await run.yieldTurn())) return 0;
    const over = new Set(await longOver(project, owners.slice(at, at + ownersAtOnce), beforeMs));
    going.push(...listed.value.filter(({ owner }) => over.has(owner)));
  }
  if (run.isDry || going.length === 0) return going.length;
  return (await work.remove(going)).ok ? going.length : 0;
}
