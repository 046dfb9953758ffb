// Opens the plan in the project's own file, and refuses a plan of another repository.

import { refuseMovedPlan } from '../store/exchange/moved-away.ts';
import { openStore } from '../store/open.ts';
import { refuseFileOfFleet } from './fleet-note.ts';
import { checkIdentity, type IdentityDeps, refuseTrackedLinks } from './identity.ts';
import { restorePlan } from './kept-plan.ts';
import { storeSources } from './store-sources.ts';

/** `thorough`: the whole file is checked. */
export async function openPlan(
  { places, openLocal }: Pick<IdentityDeps, 'places' | 'openLocal'>,
  thorough: boolean,
): ReturnType<typeof openStore> {
  refuseFileOfFleet(places);
  await refuseTrackedLinks({ places, openLocal });
  await restorePlan(places);
  const opened = await openStore(places.database, storeSources, {
    thorough,
    durability: 'grouped',
  });
  try {
    await refuseMovedPlan(opened.store.db, { shown: places.database, kind: 'file' });
    await checkIdentity({ places, store: opened.store, openLocal });
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}
