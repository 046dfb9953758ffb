// Where things of a project are on disk: the database, the backend's address, its lock and its socket.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { processStartTime } from '../agents/process-list.ts';
import type { BackendAddress } from '../protocol/api.ts';

export const projectFolderName = '.drover';

/** The nearest folder upwards that holds `.drover/`, or null. */
export function findProject(from: string): string | null {
  let folder = resolve(from);
  for (;;) {
    if (existsSync(join(folder, projectFolderName))) return folder;
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

export interface ProjectPlaces {
  readonly root: string;
  readonly folder: string;
  readonly database: string;
  readonly address: string;
  readonly lock: string;
  readonly logs: string;
  readonly backendLog: string;
}

export function placesOf(root: string, databasePath: string | null): ProjectPlaces {
  const folder = join(root, projectFolderName);
  return {
    root,
    folder,
    database: databasePath ?? join(folder, 'drover.db'),
    address: join(folder, 'backend.json'),
    lock: join(folder, 'backend.lock'),
    logs: join(folder, 'logs'),
    backendLog: join(folder, 'backend.log'),
  };
}

export function worktreesOf(root: string, configured: string | null): string {
  return configured ?? join(dirname(root), `${basename(root)}.worktrees`);
}

export function isAlive(address: BackendAddress): boolean {
  return processStartTime(address.pid) === address.start_time;
}

export function readAddress(path: string): BackendAddress | null {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Partial<BackendAddress>;
    if (typeof parsed.pid !== 'number' || typeof parsed.socket !== 'string') return null;
    if (typeof parsed.token !== 'string' || typeof parsed.start_time !== 'string') return null;
    return {
      pid: parsed.pid,
      start_time: parsed.start_time,
      socket: parsed.socket,
      token: parsed.token,
      version: String(parsed.version ?? ''),
      protocol: Number(parsed.protocol ?? 0),
    };
  } catch {
    return null;
  }
}
