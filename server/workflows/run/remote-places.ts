// Whether a task's next attempt runs here or on a worker, and how many more workers there may be.

import type { RunPlace } from '../../core/settings/remote-settings.ts';
import { countOnWorkers, placesOfEpics, type Reads, type Startable } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

export interface RemotePlaces {
  /** The task's own word, else its epic's, else the project's. */
  placeOf(task: Pick<Startable, 'runs_on' | 'epic_id'>): RunPlace;
  /** Attempts on workers that may still start. */
  left: number;
}

export async function openRemotePlaces(engine: Uses<'settings'>, tx: Reads): Promise<RemotePlaces> {
  const { runsOn, remoteMax } = engine.settings();
  const byEpic = await placesOfEpics(tx);
  const onWorkers = await countOnWorkers(tx);
  return {
    placeOf: (task) => {
      const wanted = task.runs_on ?? byEpic.get(task.epic_id ?? '') ?? runsOn;
      return wanted === 'remote' ? 'remote' : 'local';
    },
    left: Math.max(0, remoteMax - onWorkers),
  };
}
