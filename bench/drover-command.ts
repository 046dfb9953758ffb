// The shipped `drover` command, in a separate project: run to its end, with its cost.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initProject } from '../server/project/init.ts';
import { openClient } from '../server/main/connect.ts';
import type { Client } from '../server/protocol/api.ts';
import type { Bench } from './bench.ts';
import { treeUse } from './process-use.ts';
import { copyOf, git, repositoryOf, type RunFolder } from './repositories.ts';

export interface CommandProject extends RunFolder {
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates a project with `main` checked out, whose agent is the given program. */
export async function commandProject(bench: Bench, agent: string): Promise<CommandProject> {
  const copy = copyOf(bench.folder, repositoryOf(bench.folder, 100));
  git(copy.repository, 'checkout', '-q', 'main');
  await initProject(copy.repository, process.env);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: copy.home,
    DROVER_SANDBOX: 'off',
    DROVER_AGENT_TYPE: 'command',
    DROVER_AGENT_PATH: agent,
  };
  const remove = (): void => {
    const pid = backendPid(copy.repository);
    if (pid !== null) process.kill(pid, 'SIGKILL');
    copy.remove();
  };
  return { ...copy, environment, remove };
}

export function startDrover(
  bench: Bench,
  project: CommandProject,
  args: readonly string[],
): ChildProcess {
  return spawn(process.execPath, [bench.programs.pathOf('cli'), ...args], {
    cwd: project.repository,
    env: project.environment,
    stdio: 'ignore',
  });
}

export interface CommandCost {
  readonly wallMs: number;
  /** CPU time of the command and its children, without a backend that it started. */
  readonly cpuMs: number;
}

/** Runs a command this many times in sequence, and returns the mean cost of one run. */
export async function costOf(
  bench: Bench,
  project: CommandProject,
  args: readonly string[],
  times: number,
): Promise<CommandCost> {
  const cpuBefore = treeUse(process.pid).cpuMs - ownCpuMs();
  const startedMs = performance.now();
  for (let i = 0; i < times; i += 1) await drover(bench, project, args);
  const wallMs = (performance.now() - startedMs) / times;
  return { wallMs, cpuMs: (treeUse(process.pid).cpuMs - ownCpuMs() - cpuBefore) / times };
}

/** Only the children's time is wanted. */
function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export async function drover(
  bench: Bench,
  project: CommandProject,
  args: readonly string[],
): Promise<void> {
  const child = startDrover(bench, project, args);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`drover ${args.join(' ')} ended with ${code}`);
}

/** Sends the command's own requests from this process. */
export async function commandClient({ repository, environment }: CommandProject): Promise<Client> {
  const request = { root: repository, need: 'data', env: environment, settingsFlags: {} } as const;
  const client = await openClient(request);
  if (client === null) throw new Error(`there is no project in ${repository}`);
  return client;
}

export function backendPid(repository: string): number | null {
  try {
    const text = readFileSync(join(repository, '.drover', 'backend.json'), 'utf8');
    return (JSON.parse(text) as { readonly pid: number }).pid;
  } catch {
    return null;
  }
}
