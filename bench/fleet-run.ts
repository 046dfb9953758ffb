// One process of a fleet: runs until its input ends, or measures workflows of six steps in Drover
// or in bare DBOS. Prints one JSON line.

import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { openFleet } from '../server/durable/fleet/open.ts';

export interface FleetRun {
  readonly tasksPerSecond: number;
}

export const fleetQueue = 'bench';
export const fleetWorkflow = 'six steps';
const steps = 6;
const lanes = 8;

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    kind: { type: 'string', default: 'worker' },
    tasks: { type: 'string', default: '300' },
  },
});
const tasks = Number(values.tasks);
const ids = Array.from({ length: tasks }, (_, index) => `task ${index}`);

async function openHere(): Promise<Awaited<ReturnType<typeof openFleet>>> {
  const fleet = await openFleet({ url: values.url });
  const { durable } = fleet;
  durable.workflow(fleetWorkflow, async (run, input: { workMs: number }) => {
    for (let n = 1; n <= steps; n += 1) await run.step(`step ${n}`, async () => n);
    if (input.workMs > 0) await run.sleepUntil(Date.now() + input.workMs);
    return steps;
  });
  durable.queue(fleetQueue, { perProcess: lanes });
  durable.queue('closed', { perProcess: 0 });
  await durable.launch();
  return fleet;
}

function told(beganAtMs: number): void {
  const run: FleetRun = { tasksPerSecond: (tasks * 1_000) / (performance.now() - beganAtMs) };
  console.log(JSON.stringify(run));
}

/** Each workflow is started, queued, run and waited for. */
async function ours(): Promise<void> {
  const fleet = await openHere();
  const { durable } = fleet;
  const beganAtMs = performance.now();
  const starting = [...ids];
  const lane = async (): Promise<void> => {
    for (let id = starting.shift(); id !== undefined; id = starting.shift()) {
      await durable.start(fleetWorkflow, id, { workMs: 0 }, { queue: fleetQueue });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await Promise.all(ids.map((id) => durable.wait(id)));
  told(beganAtMs);
  await fleet.close();
}

/**
 * DBOS at its best: nothing is queued or polled, and each lane runs one workflow after the other.
 */
async function bare(): Promise<void> {
  const step = DBOS.registerStep(async (n: number) => n, { name: 'step' });
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (let n = 1; n <= steps; n += 1) await step(n);
      return steps;
    },
    { name: fleetWorkflow },
  );
  DBOS.setConfig({
    name: 'bare',
    systemDatabaseUrl: values.url,
    logLevel: 'error',
    // Without a version, DBOS uses its package's version, which is not available in a bundle.
    applicationVersion: 'bench',
  });
  await DBOS.launch();
  const beganAtMs = performance.now();
  const starting = [...ids];
  const lane = async (): Promise<void> => {
    for (let id = starting.shift(); id !== undefined; id = starting.shift()) {
      await (await DBOS.startWorkflow(workflow, { workflowID: id })()).getResult();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  told(beganAtMs);
  await DBOS.shutdown();
}

async function worker(): Promise<void> {
  const fleet = await openHere();
  console.log('launched');
  process.stdin.resume();
  await once(process.stdin, 'end');
  await fleet.close();
}

async function main(): Promise<void> {
  switch (values.kind) {
    case 'ours':
      await ours();
      break;
    case 'bare':
      await bare();
      break;
    default:
      await worker();
  }
}

void main();
