// The existing workers as rows: each one's task, start time, agent cost so far, and whether it is
// an orphan. Pure.

import { formatCost, formatDuration } from '../../server/core/format.ts';
import type { RemoteList, WorkerView } from '../../server/protocol/remote-views.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import type { BackendFailure } from '../backend/failure.ts';
import { treeRow, type TreeRow } from '../trees/tree-row.ts';

export interface WorkerFacts {
  readonly list: RemoteList;
  readonly tasks: ReadonlyMap<string, Pick<TaskView, 'title'>>;
  /** Cost of the attempts so far, in US dollars, by `costKey`. */
  readonly costs: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

export interface WorkerRun {
  readonly task: string;
  readonly attempt: number;
}

export function workerRows(facts: WorkerFacts): readonly TreeRow[] {
  const problems = facts.list.problems.map((text) =>
    treeRow({ id: `problem ${text}`, label: text, icon: 'warning', color: warningColor }),
  );
  return [...facts.list.workers.map((worker) => workerRow(worker, facts)), ...problems];
}

/**
 * Parses the run in a lease: `<task>/<attempt>/<part>`. Returns null if it is not an attempt, for
 * example for a test.
 */
export function parseRun({ run }: Pick<WorkerView, 'run'>): WorkerRun | null {
  const [, task, attempt] = /^(.+?)\/(\d+)\/.+$/.exec(run ?? '') ?? [];
  return task === undefined ? null : { task, attempt: Number(attempt) };
}

export function costKey({ task, attempt }: WorkerRun): string {
  return `${attempt} ${task}`;
}

/** Shown above the rows if there is no list. The command's own text names the command. */
export function wordsOfFailure({
  kind,
  message,
}: Pick<BackendFailure, 'kind' | 'message'>): string {
  if (kind !== 'unaccepted') return message;
  return 'The settings of workers in .drover.toml are not accepted yet, and nothing was started. Test Connection shows them and asks you to accept them.';
}

const warningColor = 'list.warningForeground';

const stateTexts: { readonly [S in WorkerView['state']]: string } = {
  running: 'A task runs on it.',
  left: 'An orphan: the process that followed it has ended. A running backend destroys it within ten minutes.',
  unknown: 'An orphan: no task of this clone uses it. Drover never destroys it automatically.',
};

function workerRow(worker: WorkerView, { list, tasks, costs, nowMs }: WorkerFacts): TreeRow {
  const { name, state, provisioner, created_at: created } = worker;
  const run = parseRun(worker);
  const isRunning = state === 'running';
  const age = created === null ? null : formatDuration(Math.max(0, nowMs - created * 1000));
  const cost = run === null ? undefined : costs.get(costKey(run));
  const title = run === null ? undefined : tasks.get(run.task)?.title;
  // The view is narrow, so facts that change while the user watches come first.
  const facts = [
    ...(isRunning ? [] : ['orphan']),
    ...(run === null && isRunning ? ['connection test'] : []),
    ...(age === null ? [] : [age]),
    ...(cost === undefined ? [] : [formatCost(cost)]),
    ...(run === null ? [] : [`attempt ${run.attempt}`]),
    ...(provisioner === list.provisioner ? [] : [provisioner]),
  ];
  const lines = [
    `Worker ${name} (${provisioner})`,
    ...(title === undefined ? [] : [title]),
    stateTexts[state],
    ...(age === null ? [] : [`It has existed for ${age}.`]),
    ...(cost === undefined ? [] : [`Cost of its agent so far: ${formatCost(cost)} (estimated).`]),
  ];
  return treeRow({
    id: `worker ${name}`,
    // An orphan is destroyed by its name; other workers are identified by their task.
    label: isRunning ? (title ?? name) : name,
    description: facts.join(' · '),
    tooltip: lines.join('\n'),
    icon: isRunning ? 'vm-running' : 'warning',
    color: isRunning ? null : warningColor,
    context: `worker.${state}`,
    worker: {
      name,
      isRunning,
      task: run?.task ?? null,
      title: title ?? null,
      attempt: run?.attempt ?? null,
    },
    stream: isRunning ? run : null,
  });
}

/**
 * True if the list matches the board: each agent on a worker is listed, and each worker with a
 * follower has a running task.
 */
export function isSettled(
  { workers }: RemoteList,
  tasks: readonly Pick<TaskView, 'id' | 'status' | 'phase' | 'runs_on'>[],
): boolean {
  const running = workers.filter(({ state }) => state === 'running').map(parseRun);
  const atWork = tasks.filter(isOnWorker);
  const hasWorker = ({ id }: { readonly id: string }): boolean =>
    running.some((run) => run?.task === id);
  return (
    atWork.every(hasWorker) &&
    running.every((run) => run !== null && atWork.some(({ id }) => id === run.task))
  );
}

/** The task's agent is currently running on a worker. */
export function isOnWorker(task: Pick<TaskView, 'status' | 'phase' | 'runs_on'>): boolean {
  return task.status === 'in_progress' && task.phase === 'agent' && task.runs_on === 'remote';
}
