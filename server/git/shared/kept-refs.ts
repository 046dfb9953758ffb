// Names for what a push or a fetch would drop from a shared line: commits of other machines, kept
// under a ref of their own.

import type { Sha } from '../sha.ts';

const rescueRoot = 'refs/drover/rescue';

/** The ref under which a commit is kept; the same commit always gets the same one. */
export function rescueRefFor(label: string, sha: Sha): string {
  const parts = label
    .split('/')
    .map((part) => part.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/\.\.+|^\.+|\.+$|\.lock$/g, '-'))
    .filter((part) => part !== '');
  return [rescueRoot, ...(parts.length > 0 ? parts : ['unnamed']), sha.slice(0, 12)].join('/');
}
