import { join } from 'node:path';

/** Where an object is until it is packed. */
export function looseFile(objectsDir: string, sha: string): string {
  return join(objectsDir, sha.slice(0, 2), sha.slice(2));
}
