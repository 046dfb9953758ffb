// A run of the real engine in a separate process, whose agents end one second apart. Prints one
// JSON line.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { composeEngine } from '../server/main/compose.ts';
import { openProject } from '../server/main/open-project.ts';
import { initProject } from '../server/project/init.ts';
import type { EventView } from '../server/protocol/api.ts';
import { addTask } from '../server/store/plan/tasks.ts';
import { launchEngine } from '../server/workflows/engine.ts';
import { startRun } from '../server/workflows/run/start-run.ts';
import type { Engine } from '../server/workflows/kit/engine-ports.ts';

export interface GatesRun {
  /** From the end of each agent to the landing of its task. */
  readonly waitsMs: readonly number[];
  /** From the start of the run to its end. */
  readonly runMs: number;
  readonly gates: number;
  /** Number of all gates that ended. */
  readonly gateMs: number;
  /** Number of those, and of cancelled gates, that contributed nothing to the line. */
  readonly unusedMs: number;
}

const { values } = parseArgs({
  options: {
    repository: { type: 'string', default: '' },
    home: { type: 'string', default: '' },
    tasks: { type: 'string', default: '12' },
    /** Duration of the gate. */
    gate: { type: 'string', default: '6' },
    /** Time between the ends of consecutive agents. */
    apart: { type: 'string', default: '1' },
    parallel: { type: 'string', default: '1' },
    /** The number of the task whose work fails the gate (0 = none). */
    red: { type: 'string', default: '0' },
  },
});

async function addTasks({ store }: Engine, name: string): Promise<readonly string[]> {
  const ids: string[] = [];
  await store.transaction(async (tx) => {
    for (let at = 1; at <= Number(values.tasks); at += 1) {
      const fields = { title: `${name} ${at}`, priority: 0, max_attempts: 1 };
      ids.push((await addTask(tx, store.sources, fields)).id);
    }
  });
  return ids;
}

/**
 * Each task is identified by its id: the agents end in the order of the tasks, and other agents end
 * at once.
 */
function writeAgent(path: string, ids: readonly string[]): void {
  const cases = [...ids.map((id, at) => `${id}) n=${at + 1};;`), '*) n=0;;'].join('\n');
  const name = `[ $n = ${values.red === '0' ? 'none' : values.red} ] && name=bad || name=$n`;
  writeFileSync(
    path,
    `#!/bin/sh\ncase "$DROVER_TASK_ID" in\n${cases}\nesac\n${name}\nsleep $(awk "BEGIN { print $n * ${values.apart} }")\nmkdir -p made\necho $DROVER_TASK_ID > made/$name-$DROVER_TASK_ID.txt\n`,
  );
  chmodSync(path, 0o755);
}

async function untilFinished({ store }: Engine, after: number): Promise<readonly EventView[]> {
  const seen: EventView[] = [];
  let last = after;
  for (;;) {
    const appended = Promise.withResolvers<void>();
    const off = store.feed.onAppend(() => appended.resolve());
    const events = await store.feed.read({ after: last });
    seen.push(...events);
    last = events.at(-1)?.seq ?? last;
    if (!events.some(({ type }) => type === 'run.finished')) await appended.promise;
    off();
    if (events.some(({ type }) => type === 'run.finished')) return seen;
  }
}

async function measuredRun(engine: Engine): Promise<readonly EventView[]> {
  const finished = untilFinished(engine, await engine.store.feed.lastSeq());
  await startRun(engine, {
    workers: Number(values.tasks),
    epicId: null,
    tasks: null,
    target: 'main',
    land: null,
    flags: {},
  });
  return finished;
}

function figuresOf(events: readonly EventView[]): GatesRun {
  const endedMs = new Map<string | null, number>();
  const waitsMs: number[] = [];
  const gates: number[] = [];
  let unusedMs = 0;
  for (const { type, task_id: id, at_ms: ms, data } of events) {
    if (type === 'agent.ended') endedMs.set(id, ms);
    if (type === 'task.completed') waitsMs.push(ms - (endedMs.get(id) ?? Number.NaN));
    if (type === 'gate.passed' || type === 'gate.failed') gates.push(Number(data['duration_ms']));
    if (type === 'gate.unused') unusedMs += Number(data['duration_ms']);
  }
  const startedMs = events.find(({ type }) => type === 'run.started')?.at_ms ?? Number.NaN;
  const lastMs = events.findLast(({ type }) => type === 'run.finished')?.at_ms ?? Number.NaN;
  const gateMs = gates.reduce((sum, ms) => sum + ms, 0);
  return { waitsMs, runMs: lastMs - startedMs, gates: gates.length, gateMs, unusedMs };
}

/** Early gates normally wait until the machine is less busy; these gates only sleep. */
function ignoreLoad(): void {
  const folder = join(values.home, '.config', 'drover');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.toml'), '[machine]\nmax_load = 0\nmin_free_memory = "1MB"\n');
}

async function main(): Promise<void> {
  ignoreLoad();
  await initProject(values.repository, process.env);
  const agent = join(values.home, 'agent');
  const environment = {
    PATH: process.env['PATH'],
    HOME: values.home,
    DROVER_SANDBOX: 'off',
    DROVER_AGENT_TYPE: 'command',
    DROVER_AGENT_PATH: agent,
    DROVER_GATE: `sleep ${values.gate}; ! ls made | grep -q bad`,
    DROVER_GATE_PARALLEL: values.parallel,
  };
  const project = await openProject(values.repository, environment, {});
  const host = await composeEngine(project, (error, where) =>
    console.error('trouble:', where, error),
  );
  const { engine } = host;
  await launchEngine(engine);
  // Creates the worktrees, tests the base, and measures the duration of the gate.
  writeAgent(agent, []);
  await addTasks(engine, 'warm');
  await measuredRun(engine);
  writeAgent(agent, await addTasks(engine, 'task'));
  const result = figuresOf(await measuredRun(engine));
  await host.close();
  await project.close();
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

void main();
