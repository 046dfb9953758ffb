// The required behavior of every adapter of the durable port. `describeDurable` runs the whole
// suite with one adapter.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { startChild, type TestChild } from './child-process.ts';
import type { ChildOrders } from './child.ts';
import { describeProcesses } from './conformance-processes.ts';
import { describeQueues } from './conformance-queues.ts';
import { describeSteps } from './conformance-steps.ts';
import type { DurableHarness, OpenStoreOptions, OpenTestStore } from './harness.ts';

/** One test's store, and everything that was opened on it; all of it is removed after the test. */
export interface TestBench<Tx> {
  readonly harness: DurableHarness<Tx>;
  readonly folder: string;
  open(options?: OpenStoreOptions): Promise<OpenTestStore<Tx>>;
  child(orders?: Omit<ChildOrders, 'adapter' | 'location' | 'folder'>): TestChild;
}

export type DurableTest = <Tx>(bench: TestBench<Tx>) => Promise<void>;

/** Declares a test with a separate store. */
export type Check = (title: string, body: DurableTest) => void;

export function describeDurable<Tx>(name: string, harness: DurableHarness<Tx>): void {
  const check: Check = (title, body) => {
    test(title, () => onBench(harness, body));
  };
  suite(`${name}: steps and commits`, () => describeSteps(check, harness.takesClock));
  suite(`${name}: queues, cancel and resume`, () => describeQueues(check));
  suite(`${name}: several processes`, () => describeProcesses(check));
}

async function onBench<Tx>(harness: DurableHarness<Tx>, body: DurableTest): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-durable-'));
  const location = await harness.createStore(folder);
  const stores: OpenTestStore<Tx>[] = [];
  const children: TestChild[] = [];
  try {
    await body({
      harness,
      folder,
      open: async (options) => {
        const store = await harness.open(location, options);
        stores.push(store);
        return store;
      },
      child: (orders) => {
        const child = startChild({ ...orders, adapter: harness.adapter, location, folder });
        children.push(child);
        return child;
      },
    });
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map(({ ended }) => ended));
    await Promise.all(stores.map((store) => store.close()));
    await harness.dropStore(location);
    removeFolder(folder);
  }
}
