// What is different when the project belongs to a fleet: the store and the durable engine are on a PostgreSQL that all
// machines share, and git's truth is a remote that all of them reach. Loaded only there.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFleet } from '../durable/fleet/open.ts';
import type { GitRepository } from '../git/port.ts';
import type { Store, StoreTables } from '../store/port.ts';
import { openPostgresStore } from '../store/postgres/open.ts';
import { sharedQueueLimits } from '../workflows/engine.ts';
import { type HostDurable, type Project, storeSources } from './compose.ts';
import { noteFleet } from './fleet-note.ts';
import { ownStopPart } from './machine-pulse.ts';
import type { AgentOutput } from './output/agent-output.ts';
import { createFleetOutput } from './output/fleet-output.ts';
import type { ProjectPlaces } from './places.ts';

export interface FleetProject {
  readonly machineId: string;
  readonly store: Store;
  readonly git: GitRepository;
  /** The database's URL without the password. */
  readonly shown: string;
  readonly output: AgentOutput;
  readonly close: () => Promise<void>;
}

export async function openFleetProject(
  url: string,
  places: ProjectPlaces,
  git: GitRepository,
): Promise<FleetProject> {
  const opened = await openPostgresStore(url, storeSources);
  try {
    noteFleet(places, opened.shown);
    const machineId = machineIdOf(places);
    const { store, shown, onOutput } = opened;
    const output = createFleetOutput({ store, logs: places.logs, machineId, onOutput });
    const close = async (): Promise<void> => {
      await output.close();
      await opened.close();
    };
    return { machineId, store, git, shown, output, close };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

export async function openFleetDurable(
  url: string,
  project: Project,
  crashPoint: (step: string) => void,
  report: (error: unknown, where: string) => void,
): Promise<HostDurable> {
  const { takeOverAfterMs } = project.live.settings.fleet;
  const fleet = await openFleet<StoreTables>({
    url,
    bodiesDb: project.store.db,
    takeOverAfterMs: Math.round(takeOverAfterMs * ownStopPart),
    limitsOf: sharedQueueLimits(project.machineId),
    crashPoint: (_workflow, step) => {
      project.store.feed.poke();
      crashPoint(step);
    },
    onTrouble: (error) => report(error, 'the durable engine'),
  });
  const { durable } = fleet;
  return { durable: durable as HostDurable['durable'], close: () => fleet.close() };
}

const idBytes = 6;

/** Names this clone for good: whoever starts its backend anew finds its worktrees and its agents. */
function machineIdOf(places: ProjectPlaces): string {
  const path = join(places.folder, 'machine');
  const present = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (/^[0-9a-f]{12}$/.test(present)) return present;
  const made = randomBytes(idBytes).toString('hex');
  mkdirSync(places.folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, `${made}\n`, { mode: 0o600 });
  return made;
}
