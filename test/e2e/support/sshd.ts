// Debian's sshd on a loopback port: a host for workers over ssh, with all its files below the
// test's folder.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname, join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { eventually } from './eventually.ts';
import type { Project } from './project.ts';

export interface Sshd {
  /** For ssh: the port, the key and the known hosts. */
  readonly args: readonly string[];
  /** Home of logins. */
  readonly home: string;
  /** The file that contains its host key from the start. */
  readonly knownHosts: string;
  /** The same arguments, through another port that leads to it. */
  through(port: number): readonly string[];
  /** Its address. */
  readonly url: string;
  /** Fingerprint of its host key, as ssh-keygen names it. */
  readonly fingerprint: string;
  /** From now on, it uses another host key; resolves with that key's fingerprint. */
  changeKey(): Promise<string>;
  /** The system accepts connections, but they are never answered. */
  hang(): void;
  close(): Promise<void>;
}

/** Debian's sshd on a loopback port, with its own host key and login key. */
export async function startSshd(here: Pick<Project, 'folder'>): Promise<Sshd> {
  const folder = join(here.folder, 'sshd');
  const home = join(here.folder, 'far-home');
  for (const path of [folder, home]) mkdirSync(path, { mode: 0o700 });
  const keys = ['host', 'login'].map((name) => join(folder, name));
  keys.forEach(makeKey);
  copyFileSync(join(folder, 'login.pub'), join(folder, 'authorized_keys'));
  chmodSync(join(folder, 'authorized_keys'), 0o600);
  const port = await freePort();
  mkdirSync('/run/sshd', { recursive: true });
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    `PidFile ${join(folder, 'pid')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    `SetEnv HOME=${home} PATH=${dirname(process.execPath)}:/usr/bin:/bin`,
  ];
  writeFileSync(join(folder, 'sshd_config'), `${lines.join('\n')}\n`);
  let daemon = await listening(folder, port);
  const hostKey = readFileSync(join(folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ${hostKey}\n`);
  const args = ['-F', 'none', '-p', String(port), '-i', join(folder, 'login')];
  const known = ['-o', `UserKnownHostsFile=${knownHosts}`];
  const alias = ['-o', `HostKeyAlias=[127.0.0.1]:${port}`];
  const through = (other: number): readonly string[] => {
    return [...alias, ...args.map((arg) => (arg === String(port) ? String(other) : arg)), ...known];
  };
  return {
    args: [...args, ...known],
    through,
    url: `http://127.0.0.1:${port}`,
    home,
    knownHosts,
    fingerprint: fingerprintOf(join(folder, 'host')),
    changeKey: async () => {
      await ended(daemon);
      for (const name of ['host', 'host.pub']) rmSync(join(folder, name));
      makeKey(join(folder, 'host'));
      daemon = await listening(folder, port);
      return fingerprintOf(join(folder, 'host'));
    },
    hang: () => void daemon.kill('SIGSTOP'),
    close: () => ended(daemon),
  };
}

function makeKey(path: string): void {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
}

function fingerprintOf(key: string): string {
  const said = execFileSync('ssh-keygen', ['-l', '-f', `${key}.pub`], { encoding: 'utf8' });
  return said.split(' ')[1] ?? '';
}

async function listening(folder: string, port: number): Promise<ChildProcess> {
  const daemon = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'sshd_config')], {
    stdio: 'ignore',
  });
  await eventually('sshd listens', async () => {
    return await new Promise<boolean>((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      socket.once('connect', () => resolve(socket.destroy() !== undefined));
      socket.once('error', () => resolve(false));
    });
  });
  return daemon;
}

async function ended(daemon: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  daemon.kill('SIGCONT');
  await gone;
}
