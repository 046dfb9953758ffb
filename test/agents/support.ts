// Shared parts of the agent tests: a temporary run, a host that records calls, and a check for
// remaining processes of a run.

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { listProcesses } from '../../server/agents/kit/process/process-list.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { runShellCommand } from '../../server/agents/kit/run/shell-command.ts';
import type {
  AgentHost,
  AgentProcess,
  AgentRequest,
  AgentSettings,
} from '../../server/agents/port.ts';
import type { CommandOutcome } from '../../server/core/work/command.ts';
import type { AgentEvent } from '../../server/protocol/agent-events.ts';
import { removeFolder } from '../remove-folder.ts';

export interface TestRun {
  readonly folder: string;
  readonly cwd: string;
  readonly request: AgentRequest;
  remove(): void;
}

/** Never the tests' environment: only the variables that a program needs to start. */
export const minimalEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

export const noGroups =
  'no control group can be made here: delegate one (systemd: Delegate=yes; a container: mount /sys/fs/cgroup writable)';

export function createTestRun(options: Partial<AgentRequest> = {}): TestRun {
  const folder = mkdtempSync(join(tmpdir(), 'drover-agents-'));
  const cwd = join(folder, 'work tree');
  mkdirSync(cwd);
  mkdirSync(join(folder, 'home'));
  const request: AgentRequest = {
    runId: `task-${randomUUID()}/1/1`,
    taskId: 'task-aaaaaaaa',
    attempt: 1,
    cwd,
    prompt: 'do it',
    sessionId: randomUUID(),
    resume: false,
    logPath: join(folder, 'log', 'part-1.ndjson'),
    env: { ...minimalEnvironment, HOME: join(folder, 'home') },
    secrets: [],
    maxOutputBytes: 4 * 1024 * 1024,
    timeoutMs: null,
    stallWarnMs: 60_000,
    stallEndMs: 120_000,
    ...options,
  };
  return {
    folder,
    cwd,
    request,
    remove: () => removeFolder(folder),
  };
}

export function settingsOf(
  kind: AgentSettings['kind'],
  options: Partial<AgentSettings> = {},
): AgentSettings {
  return { kind, path: null, args: [], env: {}, model: null, permissionMode: null, ...options };
}

type Question = Extract<AgentEvent, { type: 'question' }>;
type Hint = { readonly id: string; readonly text: string };

export interface RecordingHost extends AgentHost {
  readonly events: AgentEvent[];
  readonly processes: AgentProcess[];
  readonly deliveredHints: string[];
  /** Resolves with the first event, past or future, that the test accepts. */
  waitFor<T extends AgentEvent['type']>(
    type: T,
    test?: (event: Extract<AgentEvent, { type: T }>) => boolean,
  ): Promise<Extract<AgentEvent, { type: T }>>;
  ofType<T extends AgentEvent['type']>(type: T): Extract<AgentEvent, { type: T }>[];
  hint(hint: Hint): void;
}

export function createRecordingHost(
  answer: (
    question: Question,
    signal: AbortSignal,
  ) => Promise<string | null> | string | null = () => null,
): RecordingHost {
  const events: AgentEvent[] = [];
  const waiting = new Set<(event: AgentEvent) => void>();
  const hintListeners = new Set<(hint: Hint) => void>();
  const openHints: Hint[] = [];
  const host: RecordingHost = {
    events,
    processes: [],
    deliveredHints: [],
    onProcess: (process) => {
      host.processes.push(process);
      return Promise.resolve();
    },
    onEvent: (event) => {
      events.push(event);
      for (const listener of waiting) listener(event);
    },
    ask: async (question, signal) => await answer(question, signal),
    onHint: (listener) => {
      hintListeners.add(listener);
      for (const hint of openHints) listener(hint);
      return () => hintListeners.delete(listener);
    },
    hintDelivered: (id) => {
      host.deliveredHints.push(id);
      return Promise.resolve();
    },
    waitFor: (type, accepts = () => true) =>
      new Promise((resolve) => {
        const listener = (event: AgentEvent): void => {
          const typed = event as Extract<AgentEvent, { type: typeof type }>;
          if (event.type !== type || !accepts(typed)) return;
          waiting.delete(listener);
          resolve(typed);
        };
        waiting.add(listener);
        for (const event of events) listener(event);
      }),
    ofType: (type) => events.filter((event) => event.type === type) as never,
    hint: (hint) => {
      openHints.push(hint);
      for (const listener of hintListeners) listener(hint);
    },
  };
  return host;
}

/** Not every system counts the processes of a run, so this returns an event without that count. */
export function withoutCount(event: AgentEvent): AgentEvent {
  if (event.type !== 'exit') return event;
  const { left: _, ...told } = event;
  return told;
}

/** Asserts that no process of the run is alive. */
export async function assertNothingLeft(runId: string): Promise<void> {
  const left = (await listProcesses(runId)).filter((one) => one.hasMarker && !one.isZombie);
  assert.deepEqual(
    left.map((one) => one.pid),
    [],
  );
}

/** All files under a folder as one text, to search for values that must not appear there. */
export function everythingStored(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

/** Starts an agent with a separate backend that a test can kill. */
export async function startUnderBackend(
  settings: AgentSettings,
  request: AgentRequest,
): Promise<{ readonly backend: ChildProcess; readonly agent: AgentProcess }> {
  const program = fileURLToPath(new URL('backend-double.ts', import.meta.url));
  const backend = spawn(process.execPath, [program, JSON.stringify([settings, request])], {
    env: { ...minimalEnvironment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: backend.stdout }), 'line')) as [string];
  return { backend, agent: JSON.parse(line) as AgentProcess };
}

export async function killAndWait(child: ChildProcess): Promise<void> {
  // It may have exited by itself, and no event would report that again.
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Runs the line as this run's gate. */
export async function runGate(
  run: TestRun,
  command: string,
  secrets: readonly string[] = [],
): Promise<CommandOutcome> {
  return runShellCommand(
    {
      command,
      secrets,
      cwd: run.cwd,
      env: { ...run.request.env },
      timeoutMs: 20_000,
      logPath: join(run.folder, 'gate.log'),
      runId: run.request.runId,
    },
    createProcessTable(),
    new AbortController().signal,
  );
}
