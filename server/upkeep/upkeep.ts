// Cleans up when a backend starts and then once an hour, so that the size of a long-lived project
// depends only on its plan and its history.

import { readdir, rm, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deleteOldParts, outputKeptMs } from '../store/feed/log-parts.ts';
import { forgetMachines, keepsHouse } from '../store/fleet/machines.ts';
import { worktreesFolder } from '../project/project-places.ts';
import type { Project, Report } from '../project/opened-project.ts';
import type { DoneWork } from './retention.ts';
import { adoptPlaces } from '../store/port.ts';

/** Maximum number of gate logs. The verdict keeps the explaining lines of older ones. */
const gateLogsMax = 200;

async function throwAwayOld(
  project: Project,
  durable: DoneWork,
  signal: AbortSignal,
): Promise<void> {
  const { prune } = await import('./retention.ts');
  const { store, fleet, machineId } = project;
  const keeps = fleet === null || (await keepsHouse(store.db, machineId));
  await prune(project, durable, { isDry: false, signal, scope: keeps ? 'all' : 'own' });
  await removeOldest(join(project.places.logs, 'gate'), gateLogsMax);
  if (fleet === null || !keeps) return;
  await deleteOldParts(store.db, store.sources.clock.now() - outputKeptMs);
  await forgetMachines(store.db, machineKeptMs);
}

/** A machine that never ran tasks is forgotten after a month of silence. */
const machineKeptMs = 30 * 24 * 3_600_000;
const upkeepEveryMs = 3_600_000;

/** Deletes old data now and once an hour. */
export function startUpkeep(
  project: Project,
  durable: DoneWork,
  report: Report,
): { end(): Promise<void> } {
  const stop = new AbortController();
  const work = async (): Promise<void> => {
    try {
      await throwAwayOld(project, durable, stop.signal);
    } catch (error) {
      report(error, 'removing old data');
    }
  };
  let last = work();
  const timer = setInterval(() => {
    last = last.then(work);
  }, upkeepEveryMs);
  return {
    end: async () => {
      clearInterval(timer);
      stop.abort();
      await last;
    },
  };
}

/**
 * When a project joins or leaves a fleet, its worktrees are assigned to the machine whose disk has
 * them.
 */
export async function adoptWorktrees(project: Project): Promise<void> {
  const { machineId, store, places, live } = project;
  const root = worktreesFolder(places.root, live.settings.worktreeRoot);
  const isHere = (path: string): boolean => dirname(path) === root && existsSync(path);
  await store.transaction((tx) => adoptPlaces(tx, machineId, isHere));
}

/** Removes all but the latest files of a folder. A missing folder counts as empty. */
export async function removeOldest(folder: string, keptMax: number): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length <= keptMax) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const facts = await stat(join(folder, name)).catch(() => null);
      return { name, changedMs: facts?.mtimeMs ?? 0 };
    }),
  );
  files.sort((a, b) => b.changedMs - a.changedMs);
  for (const { name } of files.slice(keptMax)) await rm(join(folder, name), { force: true });
}
