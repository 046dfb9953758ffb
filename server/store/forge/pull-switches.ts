// The switches of pull requests, as rows beside their facts.

import { Refusal } from '../../core/failure.ts';
import { type PullSwitches, readSwitches } from '../../core/forge/pull-switches.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { epicOrRefuse } from '../rows/find-rows.ts';
import type { ForgeKey } from '../schema/forge-rows.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import { pullFact, pullsOfEpic, storeFact } from './pull-requests.ts';

const fact = 'switches';

export async function switchesOfPull(db: Reads, key: ForgeKey): Promise<PullSwitches> {
  return readSwitches(await pullFact(db, key, fact));
}

/** Of all open pull requests of the epic. Refuses if none is open. */
export async function setSwitches(
  tx: Tx,
  sources: StoreSources,
  epicId: string,
  change: Partial<PullSwitches>,
): Promise<void> {
  await epicOrRefuse(tx, epicId);
  const open = (await pullsOfEpic(tx, epicId)).filter(({ state }) => state === 'open');
  if (open.length === 0)
    throw new Refusal('bad_state', `${epicId} has no open pull request to switch.`);
  const atMs = sources.clock.now();
  for (const pull of open) {
    const value = JSON.stringify({ ...(await switchesOfPull(tx, pull)), ...change });
    await storeFact(tx, pull, fact, { value, atMs, missing: null });
  }
  const data = { ...change };
  await appendEvent(tx, sources, { type: 'epic.pull_request_switched', epicId, data });
}
