// One file per instance, written before the instance is created and removed when it certainly no
// longer exists. It contains no tokens.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../files/write-whole.ts';
import * as z from 'zod';
import { provisionerKinds } from '../provisioners/port.ts';

const leaseSchema = z.object({
  name: z.string().regex(/^drv-[0-9a-f]{8}-\d{1,6}$/),
  id: z.string().nullable(),
  owner: z.string(),
  /** `<task id>/<attempt>/<part>`. */
  run: z.string(),
  /** The process that follows the instance. The start time detects a reused pid. */
  pid: z.int(),
  pidStart: z.string(),
  createdAtMs: z.number(),
  deadlineMs: z.number(),
  provisioner: z.enum(provisionerKinds),
});

export type Lease = z.infer<typeof leaseSchema>;

/**
 * Never uses the prefix `drover-worker-`, because other coordinators of an account delete instances
 * with it.
 */
export function instanceName(count: number): string {
  return `drv-${randomBytes(4).toString('hex')}-${count}`;
}

/** The lease is on the disk when this returns. */
export function writeLease(folder: string, lease: Lease): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeWhole(join(folder, `${lease.name}.json`), `${JSON.stringify(lease)}\n`);
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * Returns false once the instance was destroyed, including by a user's `remote destroy`, because
 * not every provisioner can tell that an instance is gone.
 */
export function hasLease(folder: string, name: string): boolean {
  return existsSync(join(folder, `${name}.json`));
}

export function removeLease(folder: string, name: string): void {
  rmSync(join(folder, `${name}.json`), { force: true });
}

/**
 * `unreadable`: files that are not leases. Their instances are unknown, so none is destroyed for
 * them.
 */
export function readLeases(folder: string): {
  readonly leases: readonly Lease[];
  readonly unreadable: readonly string[];
} {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return { leases: [], unreadable: [] };
  }
  const leases: Lease[] = [];
  const unreadable: string[] = [];
  for (const name of names) {
    const lease = readLease(join(folder, name));
    if (lease === null || `${lease.name}.json` !== name) unreadable.push(name);
    else leases.push(lease);
  }
  leases.sort((a, b) => a.createdAtMs - b.createdAtMs);
  return { leases, unreadable };
}

function readLease(path: string): Lease | null {
  try {
    const parsed = leaseSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
