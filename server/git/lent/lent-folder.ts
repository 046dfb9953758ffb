// The git folder of a confined program: its own configuration, one ref, no hooks. Objects are
// borrowed from the repository; new ones stay here until they are imported. It is mounted in place
// of the shared git folder.

import type { LentGit } from '../local-port.ts';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { refuse } from '../failures.ts';
import { ownWorktree } from '../keep/own-worktree.ts';
import { forgetShared } from '../keep/shared-leavings.ts';
import type { GitResult } from '../port.ts';
import { readRef } from '../refs/refs.ts';
import { exists, lstatOrNull, readText } from '../../files/small-files.ts';
import { lentConfiguration } from './lent-settings.ts';
import { lentNoteName, importLentWork, type LentNote } from './taken-back.ts';
import { fixedNotes, noteDigests } from './note-digests.ts';
import { lentName } from '../refs/told-place.ts';
import { writePlain } from '../../files/plain-folder.ts';
import { readHead } from '../refs/worktree-heads.ts';

/** `path`: one of our worktrees. Commits that an earlier program left there are imported first. */
export async function lendGit(
  context: RepositoryContext,
  path: string,
): Promise<GitResult<LentGit>> {
  if (!context.refsAreFiles) {
    return refuse(
      'failed',
      'A repository that keeps its refs in tables can’t be lent to a sandbox.',
    );
  }
  const found = await ownWorktree(context, path);
  if (!found.ok) return found;
  const worktree = found.value;
  forgetShared(context, worktree.path);
  const back = await importLentWork(context, worktree.path);
  if (!back.ok) return back;
  const { branch } = readHead(worktree.gitDir);
  const tip = branch === null ? null : await readRef(context, branch);
  const folder = join(worktree.gitDir, lentName);
  for (const name of ['refs/heads', 'refs/tags', 'objects/info', 'objects/pack', 'info', 'base'])
    await mkdir(join(folder, name), { recursive: true });
  await mkdir(join(folder, 'worktrees', basename(worktree.gitDir)), { recursive: true });
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  const configuration = await lentConfiguration(context, worktree, folder);
  if (!configuration.ok) return configuration;
  await writeFile(join(folder, 'config'), configuration.value);
  for (const name of ['exclude', 'attributes']) await copySmall(context, folder, name);
  const objects = join(context.commonDir, 'objects');
  const objectsAt = join(context.commonDir, 'base');
  await writeFile(join(folder, 'objects', 'info', 'alternates'), `${objectsAt}\n`);
  const shallow = join(context.commonDir, 'shallow');
  if (exists(shallow)) await copyFile(shallow, join(folder, 'shallow'));
  if (branch !== null && tip !== null) {
    await mkdir(dirname(join(folder, branch)), { recursive: true });
    await writeFile(join(folder, branch), `${tip}\n`);
  }
  // Git runs programs that the worktree's settings include, so the confined program may only read
  // those settings.
  const settings = join(worktree.gitDir, 'config.worktree');
  if (!exists(settings)) await writeFile(settings, '', { flag: 'wx' });
  const note: LentNote = { branch, tip, notes: noteDigests(worktree.gitDir) };
  await writePlain(join(worktree.gitDir, lentNoteName), JSON.stringify(note));
  const lfs = join(context.commonDir, 'lfs');
  return ok({
    commonDir: context.commonDir,
    folder,
    gitDir: worktree.gitDir,
    fixedFiles: ['commondir', 'gitdir', lentNoteName, ...fixedNotes],
    hidden: folder,
    objects,
    objectsAt,
    alternates: alternatesOf(objects),
    largeFiles: exists(lfs) ? lfs : null,
  });
}

async function copySmall(context: RepositoryContext, folder: string, name: string): Promise<void> {
  const source = join(context.commonDir, 'info', name);
  const target = join(folder, 'info', name);
  if (lstatOrNull(source)?.isFile() === true) await copyFile(source, target);
  else await rm(target, { force: true });
}

function alternatesOf(objects: string): string[] {
  const lines = (readText(join(objects, 'info', 'alternates')) ?? '').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => (line.startsWith('/') ? line : join(objects, line)))
    .slice(0, 20);
}
