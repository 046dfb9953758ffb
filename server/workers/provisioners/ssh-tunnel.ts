// The connection to a worker on an ssh host: ssh forwards a socket file in a folder that only the
// user can access. A loopback port would be open to every user of this machine, and another program
// could have it.

import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { err, ok, type Result } from '../../core/failure.ts';
import { toSingleLine } from '../client/request.ts';
import type { InstanceSpec, StartOutside } from './port.ts';

export interface TunnelOptions {
  /** Full path of ssh. */
  readonly program: string;
  /** A name in the ssh configuration or user@host. Null if the settings name none. */
  readonly host: string | null;
  /** Further arguments, before the host. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Kills every process with this marker: the tunnel. */
  readonly endMarked: (marker: string) => Promise<void>;
  /** Starts a program so that it does not end with the process that starts it. */
  readonly startOutside: StartOutside;
  readonly markerVariable: string;
  /**
   * Folder of the tunnels' sockets, created without permissions for others. Its path must be short.
   */
  readonly tunnels: string;
}

/**
 * A separate connection, even if the user's configuration shares connections, because the end of
 * another one must not end it. The socket of a lost connection is replaced.
 */
const ownTunnel: readonly string[] = [
  'ExitOnForwardFailure=yes',
  'StreamLocalBindUnlink=yes',
  'StreamLocalBindMask=0177',
  'ControlMaster=no',
  'ControlPath=none',
].flatMap((option) => ['-o', option]);

/** The shell exits at once, so that the tunnel is not in any process tree. */
const detachScript = '"$@" < /dev/null > /dev/null 2>&1 &';

/**
 * A network failure ends the tunnel but not the job, so the tunnel is reopened as long as the job
 * may run.
 */
const tunnelScript = `
end=$(($(date +%s) + $1))
shift
while [ "$(date +%s)" -lt "$end" ]; do
  "$@"
  sleep 1
done
`;

/** Resolves with the path of the socket, which ssh creates once it is connected. */
export async function openTunnel(
  options: TunnelOptions,
  connectionArgs: readonly string[],
  { name, ttlMs }: Pick<InstanceSpec, 'name' | 'ttlMs'>,
  remotePort: number,
): Promise<Result<string, string>> {
  const socket = socketOf(options, name);
  const { tunnels } = options;
  // A user with write access to the parent folder could replace the folder. The group often
  // contains only the user.
  const unsafe = makeFolder(dirname(tunnels), 0o002) ?? makeFolder(tunnels, 0o077);
  if (unsafe !== null) return err(`the tunnel could not be opened: ${unsafe}.`);
  const forward = `${socket}:127.0.0.1:${remotePort}`;
  const args = [...connectionArgs, ...ownTunnel, ...options.args];
  const words = [...args, '-N', '-L', forward, options.host ?? ''];
  const marker = markerOf(name);
  const seconds = String(Math.ceil(ttlMs / 1000));
  const loop = ['-c', tunnelScript, 'drover-tunnel', seconds, options.program, ...words];
  const tunnel = options.startOutside(marker, { program: '/bin/sh', args: loop });
  const all = [tunnel.program, ...tunnel.args];
  const shell = spawn('/bin/sh', ['-c', detachScript, 'drover-tunnel', ...all], {
    cwd: options.cwd,
    env: { ...options.env, [options.markerVariable]: marker },
    detached: true,
    stdio: 'ignore',
  });
  const problem = await new Promise<string | null>((resolve) => {
    shell.once('error', (error) => resolve(toSingleLine(error.message)));
    shell.once('exit', () => resolve(null));
  });
  if (problem !== null) return err(`the tunnel could not be opened: ${problem}.`);
  await appeared(socket);
  return ok(socket);
}

/** Ends the tunnel of an instance and removes its socket. */
export async function closeTunnel(options: TunnelOptions, name: string): Promise<void> {
  await options.endMarked(markerOf(name));
  rmSync(socketOf(options, name), { force: true });
}

/**
 * Returns null if this user owns it and others have no permissions. Anyone may have created it
 * before.
 */
function makeFolder(folder: string, denied: number): string | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    const isOwn = stats.isDirectory() && stats.uid === process.getuid?.();
    return isOwn && (stats.mode & denied) === 0
      ? null
      : `others have rights in ${folder}; run chmod 700 on it`;
  } catch (error) {
    return toSingleLine(error instanceof Error ? error.message : String(error));
  }
}

const appearMs = 10_000;

/** Waits briefly so that the first request need not fail. The caller waits for a slower tunnel. */
async function appeared(socket: string): Promise<void> {
  const endsAt = performance.now() + appearMs;
  while (!existsSync(socket) && performance.now() < endsAt) await delay(20);
}

function socketOf({ tunnels }: TunnelOptions, name: string): string {
  return join(tunnels, name);
}

function markerOf(name: string): string {
  return `worker/${name}`;
}
