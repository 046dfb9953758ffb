// Names for commits that a push or a fetch would drop from a shared line: commits of other
// machines, kept under a ref of their own.

import { refParts } from '../refs/refs.ts';
import { rescueRoot } from '../../core/work/ref-names.ts';
import type { Sha } from '../sha.ts';

/** The ref under which a commit is kept; the same commit always gets the same one. */
export function rescueRefName(label: string, sha: Sha): string {
  const parts = refParts(label);
  const names = [...(parts.length > 0 ? parts : ['unnamed']), sha.slice(0, 12)];
  return `${rescueRoot}${names.join('/')}`;
}
