// Reads many small objects at once, by their ids or by names such as `<commit>:<path>`.

import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf } from '../failures.ts';
import { toBytes } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';

/** Maximum bytes of all objects in one answer, below the limit for git's output. */
const answerBytesMax = 16 * 1024 * 1024;

/**
 * Omits names that are not blobs, are longer than `bytesMax` or do not exist. Names must not
 * contain line breaks.
 */
export async function readBlobs(
  context: RepositoryContext,
  names: readonly string[],
  bytesMax: number,
): Promise<GitResult<ReadonlyMap<string, Buffer>>> {
  const asked = [...new Set(names)].filter((name) => !name.includes('\n'));
  const found = new Map<string, Buffer>();
  if (asked.length === 0) return ok(found);
  const sizes = await ask(
    context,
    '--batch-check=%(objectname) %(objecttype) %(objectsize)',
    asked,
  );
  if (!sizes.ok) return sizes;
  const answers = sizes.value.toString('latin1').split('\n');
  const known = asked.flatMap((name, index) => {
    const [sha = '', type, size] = answers[index]?.split(' ') ?? [];
    return type === 'blob' && Number(size) <= bytesMax ? [{ name, sha, size: Number(size) }] : [];
  });
  for (const group of groupsOf(known)) {
    const read = await ask(
      context,
      '--batch',
      group.map(({ sha }) => sha),
    );
    if (!read.ok) return read;
    let at = 0;
    for (const { name, size } of group) {
      const start = read.value.indexOf(0x0a, at) + 1;
      found.set(name, read.value.subarray(start, start + size));
      at = start + size + 1;
    }
  }
  return ok(found);
}

function groupsOf<T extends { readonly size: number }>(known: readonly T[]): T[][] {
  const groups: T[][] = [];
  let room = 0;
  for (const one of known) {
    if (groups.length === 0 || one.size > room) {
      groups.push([]);
      room = answerBytesMax;
    }
    groups.at(-1)?.push(one);
    room -= one.size;
  }
  return groups;
}

async function ask(
  context: RepositoryContext,
  how: string,
  names: readonly string[],
): Promise<GitResult<Buffer>> {
  const input = toBytes(names.map((name) => `${name}\n`).join(''));
  const output = await context.git(['cat-file', '--buffer', how], { input });
  return output.code === 0 ? ok(output.stdout) : err(failureOf(output, 'read files of commits'));
}
