// Full disks.

import { chmodSync, cpSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from '../../../remove-folder.ts';
import { mountDisk } from '../../support/small-disk.ts';
import type { Place } from './place.ts';

const smallDiskBytes = 1024 * 1024;

/** Puts `.drover` on a separate full disk; the returned function removes the disk. */
export function mountSmallDisk(place: Place): () => void {
  const folder = join(place.root, '.drover');
  const aside = `${folder}.aside`;
  cpSync(folder, aside, { recursive: true });
  removeFolder(folder);
  const unmount = mountDisk(folder, smallDiskBytes);
  cpSync(aside, folder, { recursive: true });
  removeFolder(aside);
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize));
  chmodSync(folder, 0o700);
  return unmount;
}
