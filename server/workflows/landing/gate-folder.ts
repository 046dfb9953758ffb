// Leases a folder of this machine's pool for one gate or review.

import { leaseSlot, type SlotRow } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** `name`: the folder is only leased again under the same name, so that contents do not mix. */
export async function leaseGateFolder(
  { store, machineId, places }: Uses<'machineId' | 'places' | 'store'>,
  holder: string,
  name: 'gate' | 'review',
): Promise<SlotRow> {
  return store.transaction((tx) =>
    leaseSlot(tx, store.sources, {
      machine: machineId,
      kind: 'gate',
      taskId: holder,
      attempt: 0,
      pathOf: (_kind, number) => `${places.worktrees}/${name}-${number}`,
    }),
  );
}
