// The durable engine of a fleet. Loaded only in a fleet.

import { openFleet } from '../durable/fleet/open.ts';
import { formatRelease } from '../durable/fleet/releases.ts';
import type { StoreTables } from '../store/port.ts';
import { sharedQueueLimits } from '../workflows/engine.ts';
import { readCompatibility } from '../core/compatibility.ts';
import { ownStopPart } from './machine-pulse.ts';
import type { Project } from '../project/opened-project.ts';
import type { HostDurable } from './host-durable.ts';

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
    applicationVersion: formatRelease(readCompatibility(project.live.environment)),
    limitsOf: sharedQueueLimits(project.machineId, {
      lands: (line) => project.fleet?.role.lands === true && !project.fleet.role.released.has(line),
      leads: () => project.fleet?.role.leads === true,
    }),
    crashPoint: (_workflow, step) => {
      project.store.feed.poke();
      crashPoint(step);
    },
    onTrouble: (error) => report(error, 'the durable engine'),
  });
  const { durable } = fleet;
  return { durable: durable as HostDurable['durable'], close: () => fleet.close() };
}
