// Starts `drover worker` on the machines of a fleet.

import type { Fleet } from './fleet.ts';

export async function startWorkers(
  fleet: Fleet,
  names: readonly string[],
  agents: number,
): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const machine = fleet.machine(name);
      await machine.expect(0, ['init']);
      await machine.startWorker(['--agents', String(agents)]);
    }),
  );
}
