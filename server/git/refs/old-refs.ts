// Refs that keep commits reachable for a while: snapshots of attempts and approved trees.

import { approvedRoot, workRoot } from '../../core/work/ref-names.ts';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import { updateRefs } from './refs.ts';
import { isSha, type Sha } from '../sha.ts';

export interface KeptRef {
  readonly ref: string;
  readonly commit: Sha;
  /** The task of a snapshot, or the epic or task of an approval. */
  readonly owner: string;
  readonly kind: 'snapshot' | 'approval';
  /** Time of its last commit (Unix ms). */
  readonly atMs: number;
}

const folders = { [workRoot]: 'snapshot', [approvedRoot]: 'approval' } as const;
/**
 * Owner of snapshots from slots whose author is unknown, so that no task's end shows that they are
 * no longer needed.
 */
const slotsOwner = 'slots';
const refsAtOnce = 100;

export async function listKeptRefs(
  context: RepositoryContext,
): Promise<GitResult<readonly KeptRef[]>> {
  const format = '--format=%(objectname) %(committerdate:unix) %(refname)';
  const output = await context.git(['for-each-ref', format, ...Object.keys(folders)]);
  if (output.code !== 0) return { ok: false, error: failureOf(output, 'list the snapshots') };
  const refs = output.stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line): KeptRef[] => {
      const [commit = '', seconds = '', ref = ''] = line.split(' ');
      const folder = (Object.keys(folders) as (keyof typeof folders)[]).find((one) =>
        ref.startsWith(one),
      );
      if (folder === undefined || !isSha(commit) || !/^[0-9]+$/.test(seconds)) return [];
      const [owner = ''] = ref.slice(folder.length).split('/');
      if (owner === '' || owner === slotsOwner) return [];
      return [{ ref, commit, owner, kind: folders[folder], atMs: Number(seconds) * 1_000 }];
    });
  return ok(refs);
}

/** Removes each ref that still has the listed value. */
export async function removeKeptRefs(
  context: RepositoryContext,
  refs: readonly KeptRef[],
): Promise<GitResult<void>> {
  for (let at = 0; at < refs.length; at += refsAtOnce) {
    const changes = refs
      .slice(at, at + refsAtOnce)
      .map(({ ref, commit }) => ({ ref, next: null, old: commit }));
    const removed = await updateRefs(context, changes, 'drover: retention');
    if (!removed.ok) return removed;
  }
  return ok(undefined);
}

/**
 * Bytes of the objects that only these refs reach, which git frees at its next garbage collection.
 * 0 if git cannot tell.
 */
export async function bytesOfRefs(
  context: RepositoryContext,
  refs: readonly KeptRef[],
): Promise<number> {
  if (refs.length === 0) return 0;
  const all = await context.git(['for-each-ref', '--format=%(objectname) %(refname)']);
  if (all.code !== 0) return 0;
  const going = new Set(refs.map(({ ref }) => ref));
  const kept = all.stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [sha = '', ref = ''] = line.split(' ');
      return isSha(sha) && !going.has(ref) ? [`^${sha}`] : [];
    });
  const lines = [...refs.map(({ commit }) => commit), ...kept];
  const size = await context.git(['rev-list', '--objects', '--disk-usage', '--stdin'], {
    input: lines.map((line) => `${line}\n`).join(''),
  });
  const bytes = Number(size.stdout.toString('utf8').trim());
  return size.code === 0 && Number.isFinite(bytes) ? bytes : 0;
}
