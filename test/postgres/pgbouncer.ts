// A real PgBouncer in front of a test's PostgreSQL, with its package's defaults except for the
// mode.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../free-port.ts';
import { removeFolder } from '../remove-folder.ts';

/** It refuses to run as root. 65534 is `nobody` on Debian, Fedora and Alpine. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const programs = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];

export interface PgBouncer {
  /** The URL of a database through the pooler, as its owner `drover`. */
  readonly url: (database: string) => string;
  readonly close: () => Promise<void>;
}

export async function startPgBouncer(
  serverPort: number,
  mode: 'session' | 'transaction' | 'statement',
): Promise<PgBouncer> {
  const program = programs.find((path) => existsSync(path));
  if (program === undefined) throw new Error('PgBouncer is missing: apt-get install pgbouncer');
  const folder = mkdtempSync(join(tmpdir(), 'drover-pgbouncer-'));
  const port = await freePort('127.0.0.1');
  const users = join(folder, 'users');
  writeFileSync(users, '"drover" ""\n');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
`,
  );
  if (unprivileged.uid !== undefined) {
    for (const path of [folder, users, settings]) {
      chownSync(path, unprivileged.uid, unprivileged.gid);
    }
  }
  const child = spawn(program, [settings], {
    ...unprivileged,
    cwd: folder,
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listens(child);
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    removeFolder(folder);
  };
  return { url: (database) => `postgresql://drover@127.0.0.1:${port}/${database}`, close };
}

/** Its log says when it accepts clients; its output before it exits explains why it does not. */
async function listens(child: ChildProcess): Promise<void> {
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`PgBouncer ended:\n${said.join('\n')}`)));
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (said.length < 100) said.push(line);
      if (/process up/.test(line)) resolve();
    });
  });
}
