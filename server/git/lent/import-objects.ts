// Imports objects of a confined program. They are packed first, and git unpacks them strictly, so
// that broken, forged or incomplete objects never reach the repository.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { isSha } from '../sha.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';

/**
 * With more objects, a pack is kept as one file. Fewer become loose objects, which are flushed like
 * any other.
 */
const looseObjectsMax = 500;

/** `scratch`: a folder that the program cannot access. The caller removes it. */
export async function importObjects(
  context: RepositoryContext,
  scratch: string,
  objects: string,
): Promise<GitResult<void>> {
  const packed = await pack(context, scratch, objects);
  if (!packed.ok) return packed;
  const { count, bytes } = packed.value;
  if (count === 0) return ok(undefined);
  const args =
    count <= looseObjectsMax
      ? ['unpack-objects', '-q', '--strict']
      : ['index-pack', '--strict', '--stdin'];
  const taken = await context.git(args, { input: bytes });
  return taken.code === 0
    ? ok(undefined)
    : err(failureOf(taken, 'take over the objects of a confined agent'));
}

interface Pack {
  readonly count: number;
  readonly bytes: Buffer;
}

/**
 * Packs all objects, with or without a ref, because content that is only staged and commits that
 * the program dropped are work too.
 */
async function pack(
  context: RepositoryContext,
  scratch: string,
  objects: string,
): Promise<GitResult<Pack>> {
  await mkdir(join(scratch, 'refs'), { recursive: true });
  await mkdir(join(scratch, 'objects'), { recursive: true });
  await writeFile(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
  const isLong = context.idBytes === 32;
  await writeFile(
    join(scratch, 'config'),
    `[core]\n\trepositoryformatversion = ${isLong ? 1 : 0}\n\tbare = true\n` +
      (isLong ? '[extensions]\n\tobjectformat = sha256\n' : ''),
  );
  const env = { GIT_DIR: scratch, GIT_OBJECT_DIRECTORY: objects };
  const listed = await context.git(
    ['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objectname)'],
    { env },
  );
  if (listed.code !== 0) return err(failureOf(listed, 'list the objects of a confined agent'));
  const ids = listed.stdout.toString('latin1').split('\n').filter(isSha);
  if (ids.length === 0) return ok({ count: 0, bytes: Buffer.alloc(0) });
  const packed = await context.git(['pack-objects', '-q', join(scratch, 'pack')], {
    env,
    input: `${ids.join('\n')}\n`,
  });
  if (packed.code !== 0) return err(failureOf(packed, 'pack the objects of a confined agent'));
  const file = `${join(scratch, 'pack')}-${packed.stdout.toString('latin1').trim()}.pack`;
  return ok({ count: ids.length, bytes: await readFile(file) });
}
