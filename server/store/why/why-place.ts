// Explains why a task runs on a remote worker or waits for one.

import { formatCount } from '../../core/format.ts';
import { placeOfTask } from '../../core/work/run-place.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';
import { countOnWorkers, placesOfEpics } from '../work/run-shares.ts';
import type { WhyFacts } from './why-phrases.ts';

/** Returns null if it runs here or no worker is known. */
async function whyRemote(db: Db, row: TaskRow, { remote }: WhyFacts): Promise<string | null> {
  if (remote === undefined) return null;
  const epicRunsOn = (await placesOfEpics(db)).get(row.epic_id ?? '') ?? null;
  const task = { runsOn: row.runs_on, labels: textList(row.labels), epicRunsOn };
  const { place, because } = placeOfTask(task, remote);
  return place === 'remote' ? because : null;
}

export async function whyOnWorker(db: Db, row: TaskRow, facts: WhyFacts): Promise<string[]> {
  const because = await whyRemote(db, row, facts);
  return because === null ? [] : [`It runs on a remote worker because ${because}.`];
}

export async function whyNoWorker(db: Db, row: TaskRow, facts: WhyFacts): Promise<string[]> {
  const because = await whyRemote(db, row, facts);
  const max = facts.remote?.max ?? 0;
  if (because === null || (await countOnWorkers(db)) < max) return [];
  const workers = formatCount(max, 'remote worker is', 'remote workers are');
  return [
    `${row.id} runs on a remote worker because ${because}. The limit ([remote] max) is reached: ${workers} running, and it starts when one is free.`,
  ];
}
