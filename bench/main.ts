// Measures the project's speed goals and prints one table. The README.md beside this file explains
// how.

import { mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { Bench } from './bench.ts';
import { bundle } from './bundle.ts';
import { benchConfinement } from './confinement.ts';
import { benchDistance } from './distance.ts';
import { benchFleet } from './fleet.ts';
import { benchForge } from './forge.ts';
import { benchGates } from './gates.ts';
import { isMet, short, tableText, type Figure } from './figures.ts';
import { benchHistory } from './history.ts';
import { benchIdle, benchStreams } from './idle.ts';
import { readOptions, usage, type Part } from './options.ts';
import { benchFailures, benchOrchestration } from './orchestration.ts';
import { benchMachines } from './machines.ts';
import { benchPool } from './pool.ts';
import { benchDispatch, benchRecovery } from './recovery.ts';
import { benchAgainst } from './against.ts';
import { benchMemory } from './memory.ts';
import { benchRemote } from './remote.ts';
import { replayMain } from './replay/replay.ts';
import { benchSnapshots } from './snapshots.ts';
import { benchStart } from './start.ts';
import { benchStore } from './store.ts';
import { benchWeb } from './web.ts';

const measure: { readonly [P in Part]: (bench: Bench) => Promise<Figure[]> } = {
  orchestration: benchOrchestration,
  failures: benchFailures,
  gates: benchGates,
  pool: benchPool,
  store: benchStore,
  recovery: benchRecovery,
  dispatch: benchDispatch,
  idle: benchIdle,
  streams: benchStreams,
  web: benchWeb,
  fleet: benchFleet,
  machines: benchMachines,
  distance: benchDistance,
  start: benchStart,
  memory: benchMemory,
  history: benchHistory,
  remote: benchRemote,
  confinement: benchConfinement,
  snapshots: benchSnapshots,
  forge: benchForge,
  against: benchAgainst,
};

function load(): string {
  return `load average ${loadavg().map(short).join(', ')}`;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    process.stdout.write(`${usage}\n`);
    process.exitCode = 64;
    return;
  }
  mkdirSync(options.folder, { recursive: true });
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const programs = await bundle(options.folder);
  const bench: Bench = { options, programs, folder: options.folder, say };
  const before = load();
  const figures: Figure[] = [];
  for (const part of options.parts) {
    try {
      figures.push(...(await measure[part](bench)));
    } catch (error) {
      say(`${part} failed: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`);
      process.exitCode = 1;
    }
  }
  if (options.json) for (const figure of figures) console.log(JSON.stringify(figure));
  const missed = figures.filter((figure) => isMet(figure) === false).length;
  const judged = figures.filter((figure) => isMet(figure) !== null).length;
  console.log(tableText(figures));
  console.log(`${judged - missed} of ${judged} targets met; before: ${before}; after: ${load()}`);
}

const [first, ...others] = process.argv.slice(2);
if (first === 'replay') process.exitCode = await replayMain(others);
else await main();
