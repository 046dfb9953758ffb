// The provisioner from the settings, with this machine's programs and folders.

import { dirname, isAbsolute, join, resolve } from 'node:path';
import { processStartTime, runMarker } from '../agents/kit/process/process-list.ts';
import type { AgentProcess } from '../agents/port.ts';
import { createProcessTable } from '../agents/kit/process/process-table.ts';
import { startBesideRun } from '../agents/kit/process/run-group.ts';
import { programOnPath } from '../files/program-path.ts';
import { badAddress, type WorkerAddress } from '../workers/client/request.ts';
import { createDockerProvisioner } from '../workers/provisioners/docker.ts';
import { createHookProvisioner } from '../workers/provisioners/hook.ts';
import { createHostedProvisioner } from '../workers/provisioners/hosted.ts';
import type { Provisioner } from '../workers/provisioners/port.ts';
import { createProcessProvisioner } from '../workers/provisioners/process.ts';
import { createSshProvisioner } from '../workers/provisioners/ssh.ts';
import { createStaticProvisioner } from '../workers/provisioners/static.ts';
import { createUnikraftProvisioner } from '../workers/provisioners/unikraft.ts';
import type { WorkerSettings } from './remote-spec.ts';
import { ownProgram } from '../project/own-program.ts';

export interface ProvisionerPlace {
  readonly projectRoot: string;
  /** Folder of leases and local workers. */
  readonly folder: string;
  /** File with the ssh host keys that the user accepted. */
  readonly knownHosts: string;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Time between SIGTERM and SIGKILL for processes of a local worker that still run when it is
 * destroyed.
 */
const endGraceMs = 1_000;

export function openProvisioner(settings: WorkerSettings, place: ProvisionerPlace): Provisioner {
  const { environment, projectRoot } = place;
  const processes = createProcessTable();
  const marked = {
    endMarked: async (marker: string, first: AgentProcess | null = null) => {
      await processes.endTree(marker, first, endGraceMs);
    },
    startOutside: startBesideRun,
    markerVariable: runMarker,
  };
  switch (settings.provisioner) {
    case 'process':
      return createProcessProvisioner({
        ...marked,
        startTimeOf: processStartTime,
        folder: join(place.folder, 'workers'),
        program: process.execPath,
        args: [ownProgram('worker-runtime.cjs', 'worker-runtime-main')],
        env: {
          ...chosen(environment, ['PATH', 'LANG', 'LC_ALL', 'TERM']),
          ...('electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
        },
      });
    case 'static':
      return createStaticProvisioner({
        url: settings.url,
        token: environment[settings.tokenVariable] ?? null,
        tokenVariable: settings.tokenVariable,
      });
    case 'ssh':
      return createSshProvisioner({
        ...marked,
        program: programOnPath('ssh', environment),
        host: settings.host,
        args: settings.sshArgs,
        env: chosen(environment, sshVariables),
        cwd: projectRoot,
        runtime: ownProgram('worker-runtime.cjs', 'worker-runtime-main'),
        knownHosts: place.knownHosts,
        tunnels: tunnelFolder(place),
      });
    case 'docker':
      return createDockerProvisioner({
        socketPath: settings.socket ?? engineSocket(environment['DOCKER_HOST']),
        memoryBytes: settings.memoryBytes,
      });
    case 'unikraft':
      return createUnikraftProvisioner({
        metro: settings.metro ?? environment['UKC_METRO'] ?? 'fra',
        key: environment['UKC_TOKEN'] ?? null,
        memoryBytes: settings.memoryBytes,
      });
    case 'hosted':
      return createHostedProvisioner({ platform: hostedWorkerAddress(settings, environment) });
    case 'hook':
      return createHookProvisioner({
        script: hookPath(settings.hook, projectRoot),
        cwd: projectRoot,
        env: chosen(environment, Object.keys(environment)),
        timeoutMs: settings.hookTimeoutMs,
      });
  }
}

/** The platform's URL for hosted jobs, or a sentence that names the missing setting. */
export function hostedWorkerAddress(
  settings: Pick<WorkerSettings, 'url' | 'tokenVariable'>,
  environment: NodeJS.ProcessEnv,
): WorkerAddress | string {
  const { url, tokenVariable } = settings;
  if (url === null) return 'Set [remote] url to the address of the platform.';
  const problem = badAddress(url);
  if (problem !== null) return problem;
  const token = environment[tokenVariable] ?? '';
  if (token === '') return `Set the variable ${tokenVariable} to your token of the platform.`;
  return { url, token };
}

/** The provisioner's variables, which no worker ever gets. */
export const provisionerVariables: readonly string[] = ['UKC_TOKEN', 'UKC_METRO', 'DOCKER_HOST'];

/** Only a local engine, because a container's port is published on its loopback interface. */
function engineSocket(host: string | undefined): string {
  return host?.startsWith('unix://') === true
    ? host.slice('unix://'.length)
    : '/var/run/docker.sock';
}

/**
 * A longer path would be too long for a tunnel's socket, whose path has at most about 104 bytes.
 */
const tunnelFolderBytes = 75;

/** Returns the same folder to a follower and to the backend that cleans up after it. */
function tunnelFolder({ knownHosts }: ProvisionerPlace): string {
  const own = join(dirname(knownHosts), 't');
  if (Buffer.byteLength(own) <= tunnelFolderBytes) return own;
  return join('/tmp', `drover-${process.getuid?.() ?? 0}`, 't');
}

const sshVariables = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SSH_AUTH_SOCK', 'LANG'];

function hookPath(hook: string | null, projectRoot: string): string | null {
  if (hook === null) return null;
  return isAbsolute(hook) ? hook : resolve(projectRoot, hook);
}

function chosen(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
