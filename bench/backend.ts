// The real backend in a separate process, and a client of it.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { initProject } from '../server/project/init.ts';
import { projectPlaces, readAddress } from '../server/project/project-places.ts';
import { backendNodeArgs } from '../server/main/start-backend.ts';
import type { Client } from '../server/protocol/api.ts';
import { connectSocket } from '../server/rpc/transport/client.ts';
import type { Bench } from './bench.ts';
import { copyOf, type RunFolder } from './repositories.ts';

export interface Backend {
  readonly pid: number;
  readonly client: Client;
  /** Start time of the process (Unix ms). */
  readonly startedMs: number;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface BackendProject extends RunFolder {
  readonly environment: Readonly<Record<string, string>>;
  /** All backends that were started for it. */
  readonly processes: ChildProcess[];
}

const startWaitMaxMs = 20_000;

/** Creates a project whose agent is the given program, in a fresh copy of the repository. */
export async function projectOf(
  bench: Pick<Bench, 'folder'>,
  source: string,
  agent: string,
): Promise<BackendProject> {
  const copy = copyOf(bench.folder, source);
  await initProject(copy.repository, process.env);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: copy.home,
    DROVER_SANDBOX: 'off',
    DROVER_AGENT_TYPE: 'command',
    DROVER_AGENT_PATH: agent,
  };
  const processes: ChildProcess[] = [];
  const remove = (): void => {
    for (const child of processes) child.kill('SIGKILL');
    copy.remove();
  };
  return { ...copy, environment, processes, remove };
}

export async function startBackend(
  bench: Pick<Bench, 'programs'>,
  project: BackendProject,
): Promise<Backend> {
  const startedMs = Date.now();
  const child = spawn(
    process.execPath,
    [...backendNodeArgs, bench.programs.pathOf('backend'), project.repository],
    { cwd: project.repository, env: project.environment, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  project.processes.push(child);
  const client = await connected(project.repository, child);
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    client.close();
  };
  return { pid: child.pid ?? 0, client, startedMs, kill };
}

async function connected(root: string, child: ChildProcess): Promise<Client> {
  const endMs = Date.now() + startWaitMaxMs;
  while (Date.now() < endMs && child.exitCode === null) {
    const address = readAddress(projectPlaces(root, null).address);
    if (address?.pid === child.pid && address !== null) {
      try {
        return await connectSocket(address);
      } catch {
        // The backend has written its address and is about to listen.
      }
    }
    await delay(5);
  }
  throw new Error(`the backend of ${join(root)} does not answer`);
}

/** Resolves with the events of that type as soon as this many exist. */
export async function eventsOf(
  client: Client,
  type: string,
  count: number,
  waitMs: number,
): Promise<readonly { readonly at_ms: number; readonly task_id: string | null }[]> {
  const endMs = Date.now() + waitMs;
  for (;;) {
    const { events } = await client.call('events.read', { type, limit: 1000 });
    if (events.length >= count) return events;
    if (Date.now() > endMs) throw new Error(`${events.length} of ${count} events of ${type}`);
    await delay(20);
  }
}
