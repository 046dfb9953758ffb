// Drover replays one window, with a real backend, which may be killed, and a client.

import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { drawsFrom } from '../../test/replay/plan.ts';
import type { Replay } from '../../test/replay/figures.ts';
import type { EventView } from '../../server/protocol/api.ts';
import { projectOf, startBackend, type Backend, type BackendProject } from '../backend.ts';
import { git } from '../repositories.ts';
import type { ReplayBench, WindowRun } from './window-run.ts';
import { asReplay, type Landed } from './outcome.ts';
import { writeScripts } from './scripts.ts';

const lookMs = 200;

export interface DroverRun extends WindowRun {
  readonly parallelGates: number;
  /**
   * `tell` has no effect on an agent that does not accept hints: only its forecasts are measured.
   */
  readonly onForecast: 'tell' | 'order';
  readonly kills: number;
}

/** Disables rules of the product that would need a person or an idle machine. */
function settingsText({ onForecast, parallelGates }: DroverRun): string {
  return `[machine]
max_load = 0
min_free_memory = "1MB"
[protect]
paths = ["no-such-file"]
links_allowed = ["*"]
secrets_allowed = ["*"]
portable_names = false
[gate]
parallel = ${parallelGates}
[run]
on_forecast = "${onForecast}"
`;
}

export async function replayByDrover(bench: ReplayBench, planned: DroverRun): Promise<Replay> {
  const { window, tasks, options } = planned;
  const folder = mkdtempSync(join(bench.folder, 'replay-'));
  const scripts = writeScripts(folder, tasks, { ...options, base: window.base });
  const project = await projectOf(bench, options.mirror, scripts.agent);
  try {
    prepare(project, planned);
    const environment = { ...project.environment, DROVER_GATE: scripts.gate };
    const ready: BackendProject = { ...project, environment };
    let backend = await startBackend(bench, ready);
    const ids = new Map<string, string>();
    for (const task of tasks) {
      const added = await backend.client.call('task.add', {
        title: `${task.id} ${task.title}`,
        blocked_by: task.blockedBy.map((id) => ids.get(id) ?? ''),
      });
      ids.set(task.id, added.id);
      scripts.name(task.id, added.id);
    }
    const beganMs = Date.now();
    await backend.client.call('run.start', {
      workers: options.agents,
      target: 'main',
      env: environment,
    });
    backend = await untilFinished(bench, ready, backend, killTimes(planned, beganMs));
    const events = await allEvents(backend);
    const facts = await factsOf(backend, events, ids);
    await backend.kill('SIGTERM');
    return asReplay({
      ...planned,
      ...facts,
      beganMs,
      repository: project.repository,
      journal: scripts.journal(),
      kills: planned.kills,
    });
  } finally {
    project.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

function prepare({ repository, home }: BackendProject, planned: DroverRun): void {
  git(repository, 'update-ref', 'refs/heads/main', planned.window.base);
  git(repository, 'update-ref', 'refs/replayed/tip', planned.window.tip);
  git(repository, 'remote', 'remove', 'origin');
  git(repository, 'config', 'gc.auto', '0');
  const config = join(home, '.config', 'drover');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.toml'), settingsText(planned));
  appendFileSync(join(repository, '.git', 'info', 'exclude'), '.drover*\n');
}

/** The time is drawn from the first three fifths of the critical path. */
function killTimes({ kills, options, criticalMs }: DroverRun, beganMs: number): number[] {
  const draw = drawsFrom(options.seed + 7);
  const times = Array.from({ length: kills }, () => beganMs + draw() * criticalMs * 0.6);
  return times.sort((a, b) => a - b);
}

async function untilFinished(
  bench: ReplayBench,
  project: BackendProject,
  first: Backend,
  killsMs: number[],
): Promise<Backend> {
  let backend = first;
  for (;;) {
    await delay(lookMs);
    const [next] = killsMs;
    if (next !== undefined && Date.now() >= next) {
      killsMs.shift();
      bench.say(`replay: SIGKILL, ${killsMs.length} left`);
      await backend.kill('SIGKILL');
      backend = await startBackend(bench, project);
      continue;
    }
    const { events } = await backend.client.call('events.read', { type: 'run.finished' });
    if (events.length > 0) return backend;
  }
}

async function allEvents({ client }: Backend): Promise<readonly EventView[]> {
  const all: EventView[] = [];
  for (;;) {
    const after = all.at(-1)?.seq ?? 0;
    const { events } = await client.call('events.read', { after, limit: 1000 });
    if (events.length === 0) return all;
    all.push(...events);
  }
}

type Facts = Pick<Replay, 'conflicts' | 'forecast' | 'open' | 'unusedGateMs'> & {
  readonly landed: readonly Landed[];
};

async function factsOf(
  { client }: Backend,
  events: readonly EventView[],
  ids: ReadonlyMap<string, string>,
): Promise<Facts> {
  const report = await client.call('report', {});
  const { tasks } = await client.call('status', {});
  const ours = new Map([...ids].map(([id, theirs]) => [theirs, id]));
  const shas = new Map(report.landed.map(({ id, sha }) => [id, sha]));
  return {
    conflicts: report.retries.filter(({ cause }) => cause === 'conflict').length,
    unusedGateMs: report.gate.unused_ms,
    forecast: report.forecast ?? null,
    open: tasks
      .filter(({ status }) => status !== 'completed')
      .map((task) => `${ours.get(task.id)} ${task.status}: ${task.last_error ?? ''}`),
    landed: events.flatMap(({ type, task_id: id, at_ms: atMs }) =>
      type === 'task.completed' && id !== null
        ? [{ id: ours.get(id) ?? id, atMs, commit: shas.get(id) ?? null }]
        : [],
    ),
  };
}
