// The workflows that the suite runs in its own process and in child processes.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LostLease, type DurableRun } from '../../server/durable/port.ts';
import type { OpenTestStore } from './harness.ts';

/**
 * The point at which a child process kills itself: inside the body before or after its effect, or
 * when the step is stored.
 */
export interface CrashAt {
  readonly step: string;
  readonly where: 'before' | 'after' | 'stored';
}

export interface WorkflowSettings {
  /** Contains the log of effects and the files through which processes find each other. */
  readonly folder: string;
  readonly crashAt?: CrashAt;
  /** Suspends (does not kill) the process inside the step `z2` of `zombie`. */
  readonly stopsItself?: boolean;
  /** Notifies the watcher of this process. */
  readonly tell?: (line: string) => void;
}

export const sixSteps = ['s1', 's2', 's3', 's4', 's5', 's6'] as const;
/** The step that is a commit. */
const committed = 's3';

export function logPath(folder: string): string {
  return join(folder, 'effects.log');
}

export function readLog(folder: string): readonly string[] {
  const path = logPath(folder);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** One short append is one write, even with several processes. */
export function appendLog(folder: string, line: string): void {
  appendFileSync(logPath(folder), `${line}\n`);
}

export function endAbruptly(): void {
  process.kill(process.pid, 'SIGKILL');
}

export function registerTestWorkflows<Tx>(
  store: OpenTestStore<Tx>,
  settings: WorkflowSettings,
): void {
  const { durable } = store;
  durable.workflow('six', (run: DurableRun<Tx>, input: { start: number }) =>
    six(run, input.start, store, settings),
  );
  durable.workflow('hang', (run: DurableRun<Tx>) => hang(run, settings));
  durable.workflow('span', (run: DurableRun<Tx>, input: { workMs: number }) =>
    span(run, input.workMs, settings),
  );
  durable.workflow('meet', (run: DurableRun<Tx>) => meet(run, settings));
  durable.workflow('zombie', (run: DurableRun<Tx>) => zombie(run, store, settings));
  durable.workflow('sleep', async (run: DurableRun<Tx>, input: { untilMs: number }) => {
    const before = await run.step('before', async () => 'slept');
    settings.tell?.(`sleeping ${run.workflowId}`);
    await run.sleepUntil(input.untilMs);
    return before;
  });
}

/** Six effects, each a line of the log; the third is also a row in the user's table. */
async function six<Tx>(
  run: DurableRun<Tx>,
  start: number,
  store: OpenTestStore<Tx>,
  settings: WorkflowSettings,
): Promise<number> {
  const { folder, crashAt } = settings;
  let sum = start;
  for (const [index, step] of sixSteps.entries()) {
    const effect = (): number => {
      if (crashAt?.step === step && crashAt.where === 'before') endAbruptly();
      appendLog(folder, `${run.workflowId} ${step}`);
      if (crashAt?.step === step && crashAt.where === 'after') endAbruptly();
      return index + 1;
    };
    if (step === committed) {
      sum += await run.commit(step, async (tx) => {
        await store.addNote(tx, `${run.workflowId} ${step}`);
        return effect();
      });
    } else {
      sum += await run.step(step, async () => effect());
    }
  }
  return sum;
}

async function hang<Tx>(run: DurableRun<Tx>, { folder, tell }: WorkflowSettings): Promise<string> {
  await run.step('first', async () => appendLog(folder, `${run.workflowId} first`));
  return run.step('hang', (signal) => {
    tell?.(`hanging ${run.workflowId}`);
    return new Promise((_resolve, reject) => {
      const end = (): void => {
        appendLog(folder, `${run.workflowId} aborted`);
        tell?.(`aborted ${run.workflowId}`);
        reject(signal.reason as Error);
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  });
}

/** Takes some time between a line at its start and one at its end. */
async function span<Tx>(
  run: DurableRun<Tx>,
  workMs: number,
  { folder }: WorkflowSettings,
): Promise<number> {
  return run.step('span', async () => {
    appendLog(folder, `begin ${run.workflowId} ${process.pid}`);
    await new Promise((resolve) => setTimeout(resolve, workMs));
    appendLog(folder, `end ${run.workflowId} ${process.pid}`);
    return process.pid;
  });
}

/** Ends only if two workflows of its kind run at the same time. */
async function meet<Tx>(run: DurableRun<Tx>, { folder }: WorkflowSettings): Promise<number> {
  return run.step('meet', async (signal) => {
    writeFileSync(join(folder, `${run.workflowId}.here`), '');
    const others = ['meet-1', 'meet-2'].map((id) => join(folder, `${id}.here`));
    while (!others.every((path) => existsSync(path))) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return process.pid;
  });
}

/** A server may have closed the connections of a process that was suspended. */
async function noteInZ2<Tx>(
  run: DurableRun<Tx>,
  store: OpenTestStore<Tx>,
  settings: WorkflowSettings,
): Promise<void> {
  for (;;) {
    try {
      return await run.whileHeld((tx) => store.addNote(tx, 'in z2'));
    } catch (error) {
      if (error instanceof LostLease) return settings.tell?.('write fenced');
    }
  }
}

async function zombie<Tx>(
  run: DurableRun<Tx>,
  store: OpenTestStore<Tx>,
  settings: WorkflowSettings,
): Promise<string> {
  await run.step('z1', async () => appendLog(settings.folder, 'z1'));
  try {
    await run.step('z2', async () => {
      appendLog(settings.folder, 'z2');
      if (settings.stopsItself === true) {
        settings.tell?.('stopping');
        process.kill(process.pid, 'SIGSTOP');
      }
      await noteInZ2(run, store, settings);
    });
  } catch (error) {
    settings.tell?.(error instanceof LostLease ? 'fenced' : `failed: ${String(error)}`);
    throw error;
  }
  return run.step('z3', async () => {
    appendLog(settings.folder, 'z3');
    settings.tell?.('ran z3');
    return 'done';
  });
}
