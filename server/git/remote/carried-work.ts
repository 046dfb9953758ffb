// Transfers finished work from a machine that cannot reach the remote to the others, so that
// dependent work does not wait for this machine's network.

import type { RepositoryContext } from '../context.ts';
import type { Sha } from '../sha.ts';

export interface Carrier {
  /** Returns false if it cannot take the work, or if no other machine could land it. */
  put(work: CarriedPack): Promise<boolean>;
  get(commit: Sha): Promise<Buffer | null>;
}

export interface CarriedPack {
  /** Task and attempt number, as in the branch's name. */
  readonly attempt: string;
  readonly commit: Sha;
  readonly pack: Buffer;
}

export interface CarriedRange {
  readonly attempt: string;
  readonly commit: Sha;
  /** A commit that every machine can fetch. */
  readonly base: Sha;
}

export async function sendCarried(
  context: RepositoryContext,
  carrier: Carrier,
  { attempt, commit, base }: CarriedRange,
): Promise<boolean> {
  const output = await context.git(['pack-objects', '--revs', '--stdout', '-q'], {
    input: `${commit}\n^${base}\n`,
  });
  if (output.code !== 0) return false;
  return carrier.put({ attempt, commit, pack: output.stdout });
}

/** Returns true if the commit is now here with everything that it refers to. */
export async function fetchCarried(
  context: RepositoryContext,
  carrier: Carrier,
  commit: Sha,
): Promise<boolean> {
  const pack = await carrier.get(commit);
  if (pack === null) return false;
  const unpacked = await context.git(['index-pack', '--stdin'], { input: pack });
  if (unpacked.code !== 0) return false;
  const connected = ['rev-list', '--objects', '--quiet', commit, '--not', '--all'];
  return (await context.git(connected)).code === 0;
}
