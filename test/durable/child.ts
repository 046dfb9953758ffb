// A second process on a durable store, controlled by one JSON argument; it exists to be killed.

import { writeSync } from 'node:fs';
import type { QueueLimits } from '../../server/durable/port.ts';
import type { DurableHarness } from './harness.ts';
import { endAbruptly, registerTestWorkflows, type CrashAt } from './workflows.ts';

export interface ChildOrders {
  readonly adapter: string;
  readonly location: string;
  readonly folder: string;
  readonly leaseMs?: number;
  readonly crashAt?: CrashAt;
  readonly stopsItself?: boolean;
  readonly queues?: { readonly [name: string]: QueueLimits };
}

/** Only the requested adapter is loaded, because many children are started. */
async function harnessOf(adapter: string): Promise<DurableHarness<never>> {
  switch (adapter) {
    case 'embedded':
      return (await import('./embedded-harness.ts')).embeddedHarness as DurableHarness<never>;
    case 'fleet':
      return (await import('./fleet-harness.ts')).fleetHarness as DurableHarness<never>;
    default:
      throw new Error(`no adapter ${adapter}`);
  }
}

/** Unbuffered, so that a line is written before the process exits or stops itself. */
function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

async function main(orders: ChildOrders): Promise<void> {
  const harness = await harnessOf(orders.adapter);
  const { crashAt } = orders;
  const store = await harness.open(orders.location, {
    ...(orders.leaseMs !== undefined && { leaseMs: orders.leaseMs }),
    crashPoint: (_workflowId, stepName) => {
      if (crashAt?.where === 'stored' && crashAt.step === stepName) endAbruptly();
    },
  });
  registerTestWorkflows(store, {
    folder: orders.folder,
    tell,
    ...(crashAt && { crashAt }),
    ...(orders.stopsItself !== undefined && { stopsItself: orders.stopsItself }),
  });
  for (const [name, limits] of Object.entries(orders.queues ?? {})) {
    store.durable.queue(name, limits);
  }
  await store.durable.launch();
  tell('launched');
  // The end of the input is the request to close, and also shows that the test itself has died.
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
  await store.close();
  tell('closed');
}

await main(JSON.parse(process.argv[2] ?? '') as ChildOrders);
