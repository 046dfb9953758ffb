// Names for commits that a push or a fetch would drop from a shared line: other machines' commits,
// each kept under its own ref.

import { refParts } from '../refs/refs.ts';
import { rescueRoot } from '../../core/work/ref-names.ts';
import type { Sha } from '../sha.ts';

/** The ref under which a commit is kept. Always the same for the same commit. */
export function rescueRefName(label: string, sha: Sha): string {
  const parts = refParts(label);
  const names = [...(parts.length > 0 ? parts : ['unnamed']), sha.slice(0, 12)];
  return `${rescueRoot}${names.join('/')}`;
}
