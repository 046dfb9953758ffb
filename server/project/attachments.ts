// Images of descriptions on disk: `.drover/attachments/<sha256>.<type>`. Only the project's owner
// can access the folder, and nothing in it is read or written through a link.

import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../core/failure.ts';
import {
  attachmentBytesMax,
  attachmentTypes,
  detectImageType,
  isAttachmentName,
} from '../core/plan/attachments.ts';
import { formatBytes } from '../core/format.ts';
import type { ProjectPlaces } from './project-places.ts';

/** Limits for the whole folder. */
const filesMax = 2_000;
const folderBytesMax = 1024 * 1024 * 1024;

type Place = Pick<ProjectPlaces, 'attachments'>;

export interface KeptAttachment {
  readonly name: string;
  readonly bytes: number;
  readonly atMs: number;
}

/** Stores an image, once per content. Resolves with its name. Refuses other content. */
export async function keepAttachment(places: Place, content: Uint8Array): Promise<string> {
  if (content.length > attachmentBytesMax) {
    throw new Refusal(
      'file',
      `The image must not be larger than ${formatBytes(attachmentBytesMax)}. Make it smaller.`,
    );
  }
  const type = detectImageType(content);
  if (type === null) {
    throw new Refusal('file', `An attachment must be an image (${attachmentTypes.join(', ')}).`);
  }
  const name = `${createHash('sha256').update(content).digest('hex')}.${type}`;
  await mkdir(places.attachments, { mode: 0o700 }).catch(unlessPresent);
  if (!(await lstat(places.attachments)).isDirectory()) {
    throw new Refusal('file', `${places.attachments} must be a folder. Remove what is there.`);
  }
  const kept = await keptAttachments(places);
  const others = kept.filter((each) => each.name !== name);
  const bytes = others.reduce((sum, each) => sum + each.bytes, content.length);
  if (others.length >= filesMax || bytes > folderBytesMax) {
    throw new Refusal(
      'too_many',
      'The project keeps too many images. Run `drover prune` to remove those that no task names.',
    );
  }
  await writeImage(join(places.attachments, name), content);
  return name;
}

/**
 * Written under another name first, so that readers find a complete image, and a link with the name
 * is replaced instead of followed. Also done for an existing image, because its time records when
 * it was last used.
 */
async function writeImage(path: string, content: Uint8Array): Promise<void> {
  const fresh = `${path}.${randomUUID()}.new`;
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const file = await open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * The images in the folder. Excludes links, other files, and everything if the folder itself is a
 * link.
 */
export async function keptAttachments(places: Place): Promise<readonly KeptAttachment[]> {
  const folder = await lstat(places.attachments).catch(() => null);
  if (folder?.isDirectory() !== true) return [];
  const names = (await readdir(places.attachments)).filter(isAttachmentName);
  const kept: KeptAttachment[] = [];
  for (const name of names) {
    const facts = await lstat(join(places.attachments, name)).catch(() => null);
    if (facts?.isFile() === true) kept.push({ name, bytes: facts.size, atMs: facts.mtimeMs });
  }
  return kept;
}

function unlessPresent(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
