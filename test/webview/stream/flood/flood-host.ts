// A host inside the page whose agents each write a given number of lines a second: the panel's own cost without a wire of
// the test's. Measurements go out by the real wire.

import type { LogPageView, TaskView } from '../../../../server/protocol/views.ts';
import type { HostState } from '../../../../webview/messages/messages.ts';
import { connectHost, type Host, type Push } from '../../../../webview/shared/host.ts';

const lineBytes = 100;
const waitStepMs = 10;

export interface Flood {
  readonly agents: number;
  readonly linesPerSecond: number;
  /** Lines that are there at first. */
  readonly linesBefore: number;
}

export function floodHost(flood: Flood): Host {
  const wire = connectHost();
  const startMs = performance.now();
  const linesNow = (): number =>
    flood.linesBefore + Math.floor(((performance.now() - startMs) / 1000) * flood.linesPerSecond);
  const page = (from: number, to: number): LogPageView => ({
    task_id: 'task-0',
    attempt: 1,
    events: Array.from({ length: Math.max(0, to - from) }, (_, index) => ({
      type: 'output',
      stream: 'stdout',
      text: `\u001b[32m${from + index}\u001b[0m compiled module ${(from + index) % 997} without a warning`,
      at: 1_700_000_000_000 + from + index,
    })),
    offset: from * lineBytes,
    next_offset: to * lineBytes,
    size: linesNow() * lineBytes,
    ended: false,
  });
  const read = async (params: {
    before?: number;
    offset?: number;
    limit?: number;
    newest?: boolean;
    wait_ms?: number;
  }): Promise<LogPageView> => {
    const limit = params.limit ?? 5_000;
    if (params.before !== undefined) {
      const to = Math.min(linesNow(), Math.floor(params.before / lineBytes));
      return structuredClone(page(Math.max(0, to - limit), to));
    }
    const from = (params.offset ?? 0) / lineBytes;
    while (linesNow() <= from) await new Promise((done) => setTimeout(done, waitStepMs));
    // VS Code hands messages over as structured clones.
    const end = linesNow();
    if (params.newest === true) return structuredClone(page(Math.max(from, end - limit), end));
    return structuredClone(page(from, Math.min(end, from + limit)));
  };
  const listeners = new Set<(push: Push) => void>();
  return {
    backend: (name, params) => {
      if (name === 'log.read') return read(params as never) as never;
      return Promise.resolve([]) as never;
    },
    action: (name, params) => {
      if (name !== 'hello') return wire.action(name, params);
      for (const listener of listeners) listener({ type: 'state', state: stateOf(flood) });
      return Promise.resolve({}) as never;
    },
    select: () => {},
    onPush: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    memory: { get: () => undefined, set: () => {}, amend: () => {} },
  };
}

function stateOf(flood: Flood): HostState {
  const tasks = Array.from({ length: flood.agents }, (_, index) => ({
    id: `task-${index}`,
    title: `Task number ${index}`,
    status: 'in_progress',
    phase: 'agent',
    parent_id: null,
    attempts: 1,
    agent: 'demo',
    started_at: 1_700_000_000,
  }));
  const board = { tasks: tasks as unknown as TaskView[], epics: [], questions: [] };
  return {
    webview: 'grid',
    connection: { kind: 'connected', version: '0.1.0', root: '/project' },
    board: board as unknown as HostState['board'],
    subject: { id: 'task-0', attempt: null },
    agents: [],
    settings: { showPreflight: false, reduceMotion: false },
  };
}
