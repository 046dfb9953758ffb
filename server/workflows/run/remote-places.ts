// Decides whether a task's next attempt runs here or on a worker, and how many more workers may
// start.

import { placeOfTask } from '../../core/work/run-place.ts';
import type { RunPlace } from '../../core/settings/remote-settings.ts';
import {
  countOnWorkers,
  placesOfEpics,
  type Reads,
  type Startable,
  textList,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

export interface RemotePlaces {
  placeOf(task: Pick<Startable, 'runs_on' | 'labels' | 'epic_id'>): RunPlace;
  /** Number of attempts on workers that may still start. */
  left: number;
}

export async function openRemotePlaces(engine: Uses<'settings'>, tx: Reads): Promise<RemotePlaces> {
  const { remoteMax, ...rules } = engine.settings();
  const [byEpic, onWorkers] = await Promise.all([placesOfEpics(tx), countOnWorkers(tx)]);
  return {
    placeOf: (task) => {
      const epicRunsOn = byEpic.get(task.epic_id ?? '') ?? null;
      const placed = { runsOn: task.runs_on, labels: textList(task.labels), epicRunsOn };
      return placeOfTask(placed, rules).place;
    },
    left: Math.max(0, remoteMax - onWorkers),
  };
}
