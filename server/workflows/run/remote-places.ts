// Whether a task's next attempt runs here or on a worker, and how many more workers there may be.

import type { RunPlace } from '../../core/settings/remote-settings.ts';
import type { Startable, Reads } from '../../store/port.ts';
import type { Engine } from '../kit/parts.ts';
import { handedOver } from '../kit/placement.ts';

export interface RemotePlaces {
  /** The task's own word, else its epic's, else the project's. */
  placeOf(task: Pick<Startable, 'runs_on' | 'epic_id'>): RunPlace;
  /** Attempts on workers that may still start. */
  left: number;
}

export async function openRemotePlaces(engine: Engine, tx: Reads): Promise<RemotePlaces> {
  const { runsOn, remoteMax } = engine.settings();
  const epics = await tx
    .selectFrom('epics')
    .select(['id', 'runs_on'])
    .where('runs_on', 'is not', null)
    .execute();
  const byEpic = new Map(epics.map((epic) => [epic.id, epic.runs_on]));
  const { n } = await tx
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('a.runs_on', '=', 'remote')
    .where((eb) => eb.or([eb('t.phase', 'is', null), eb('t.phase', 'not in', handedOver)]))
    .executeTakeFirstOrThrow();
  return {
    placeOf: (task) => {
      const wanted = task.runs_on ?? byEpic.get(task.epic_id ?? '') ?? runsOn;
      return wanted === 'remote' ? 'remote' : 'local';
    },
    left: Math.max(0, remoteMax - Number(n)),
  };
}
