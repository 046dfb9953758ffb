// Whether the files that a backend opened are still the ones that its clients see. Deleted or moved
// files stay open, and a backend that kept using them would work on a plan that no client can see.

import { lstatSync } from 'node:fs';
import type { ProjectPlaces } from './project-places.ts';

/**
 * Records the current files. The returned function names one that was deleted, moved or replaced.
 */
export function watchOwnFiles(places: ProjectPlaces, hasFile: boolean): () => string | null {
  const paths = [places.lock, ...(hasFile ? [places.database] : [])];
  const noted = paths.map((path) => [path, identityOf(path)] as const);
  return () => {
    const gone = noted.find(
      ([path, identity]) => ![identity, 'unknown'].includes(identityOf(path)),
    );
    return gone?.[0] ?? null;
  };
}

function identityOf(path: string): string {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    return facts === undefined ? 'missing' : `${facts.dev}:${facts.ino}`;
  } catch (error) {
    // A folder that is temporarily unreadable is no reason to exit, but one that became a file is.
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? 'missing' : 'unknown';
  }
}
